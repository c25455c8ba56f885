"""Git in a vault that came with a `.git` of somebody else's: nothing that it configures is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from cli import main
from tests.commands import Run
from vault import git as git_module
from vault.errors import GitFailed
from vault.git import git


@pytest.fixture(autouse=True)
def _no_settings_but_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def plain(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Git as anybody would start it."""
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    command = ["git", *person, *words]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


class Hostile:
    """A vault with a repository whose settings name a program wherever git runs one. Each leaves its name."""

    def __init__(self, base: Path) -> None:
        self.root, self._bin, self._ran = base / "v", base / "bin", base / "ran"
        self._bin.mkdir()
        self._ran.mkdir()
        assert main.run(["init", str(self.root)]) == 0
        (self.root / "wiki/page.md").write_text("words\n", encoding="utf-8")
        assert plain(self.root, "add", "-A").returncode == 0
        assert plain(self.root, "commit", "-qm", "first").returncode == 0
        (self.root / "raw/new.md").write_text("words\n", encoding="utf-8")
        assert plain(self.root, "add", "-f", "raw/new.md").returncode == 0
        (self.root / "wiki/page.md").write_text("other words\n", encoding="utf-8")
        self._configure()

    @property
    def ran(self) -> set[str]:
        return {path.name for path in self._ran.iterdir()}

    def forget(self) -> None:
        for path in self._ran.iterdir():
            path.unlink()

    def program(self, name: str) -> str:
        """The path of a program that leaves `name` behind."""
        path = self._bin / name
        path.write_text(f'#!/bin/sh\n: >"{self._ran}/{name}"\ncat >/dev/null 2>&1 </dev/null\n', encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def _configure(self) -> None:
        dot = self.root / ".git"
        hooks = dot / "hostile-hooks"
        hooks.mkdir()
        for name in ("pre-commit", "post-index-change", "post-checkout", "reference-transaction", "pre-auto-gc"):
            shutil.copy(self.program(f"hook-{name}"), hooks / name)
        run = self.program
        more = dot / "more"
        more.write_text(f"[core]\n\tfsmonitor = {run('fsmonitor-included')}\n", encoding="utf-8")
        # A tree that is missing is fetched from the remote by git itself, with a program that the remote names.
        tree = subprocess.check_output(["git", "rev-parse", "HEAD^{tree}"], cwd=self.root, text=True).strip()
        (dot / "objects" / tree[:2] / tree[2:]).unlink()
        (dot / "info/attributes").write_text("* filter=evil diff=evil\n", encoding="utf-8")
        with open(dot / "config", "a", encoding="utf-8") as config:
            config.write(f"""
[core]
	fsmonitor = {run("fsmonitor")}
	hooksPath = {hooks}
	pager = {run("pager")}
	editor = {run("editor")}
	askPass = {run("askpass")}
	sshCommand = {run("ssh")}
	gitProxy = {run("proxy")}
	alternateRefsCommand = {run("alternates")}
	repositoryFormatVersion = 1
[sequence]
	editor = {run("sequence-editor")}
[credential]
	helper = {run("credential")}
[gpg]
	program = {run("gpg")}
[commit]
	gpgSign = true
[diff]
	external = {run("diff-external")}
[diff "evil"]
	command = {run("diff-command")}
	textconv = {run("textconv")}
[filter "evil"]
	clean = {run("filter-clean")}
	smudge = {run("filter-smudge")}
	process = {run("filter-process")}
	required = true
[alias]
	rev-parse = !{run("alias")}
	check-ignore = !{run("alias")}
[extensions]
	partialClone = origin
[remote "origin"]
	url = {self.root}/.git
	uploadpack = {run("uploadpack")}
	promisor = true
[protocol]
	allow = always
[trace2]
	eventTarget = {self._ran}/trace2
""")
        self.included = f"\n[include]\n\tpath = {more}\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


def start_everything(root: Path) -> None:
    """Every command of retain that asks git, and every question."""
    main.run(["init", str(root), "--host", "claude-code", "--host", "codex"])
    main.run(["--vault", str(root), "doctor"])
    with suppress(GitFailed):  # git refuses such a repository
        git(root, "init", "--quiet")


@pytest.mark.parametrize("included", [False, True])
def test_no_program_that_a_vaults_repository_names_is_run(hostile: Hostile, included: bool) -> None:
    if included:
        with open(hostile.root / ".git/config", "a", encoding="utf-8") as config:
            config.write(hostile.included)
    start_everything(hostile.root)
    assert hostile.ran == set()
    plain(hostile.root, "check-ignore", "--quiet", "x")
    assert hostile.ran == {"fsmonitor-included" if included else "fsmonitor"}
    plain(hostile.root, "diff", "--cached", "--name-only")
    assert "uploadpack" in hostile.ran
    hostile.forget()
    plain(hostile.root, "add", "wiki/page.md")
    assert "filter-process" in hostile.ran


def test_a_folder_that_looks_like_a_repository_is_none(hostile: Hostile, tmp_path: Path) -> None:
    """Without a `.git`, git takes a folder with HEAD, objects and refs for a repository, and believes its config."""
    bare = tmp_path / "bare"
    shutil.copytree(hostile.root / ".git", bare)
    assert plain(bare, "rev-parse", "--git-dir").returncode == 0
    with pytest.raises(GitFailed):
        git(bare, "rev-parse", "--git-dir")


def test_a_configuration_that_never_ends_is_not_waited_for(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_module, "_TIMEOUT_S", 0.5)
    pipe = hostile.root / ".git/pipe"
    os.mkfifo(pipe)
    with open(hostile.root / ".git/config", "a", encoding="utf-8") as config:
        config.write(f"\n[include]\n\tpath = {pipe}\n")
    with pytest.raises(GitFailed, match="timeout"):
        git(hostile.root, "rev-parse", "--git-dir")


def test_variables_of_the_caller_lead_git_nowhere_else(
    hostile: Hostile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    assert plain(tmp_path, "init", "-q", str(other)).returncode == 0
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", hostile.program("variable"))
    assert plain(hostile.root, "rev-parse", "--git-dir").stdout.decode().strip() == str(other / ".git")
    assert git(hostile.root, "rev-parse", "--absolute-git-dir") == str(hostile.root / ".git")


def test_a_program_of_the_vault_is_not_taken_for_git(hostile: Hostile, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(hostile.program("false-git"), hostile.root / "git")
    monkeypatch.chdir(hostile.root)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    subprocess.run(["git", "rev-parse"], check=True)
    assert hostile.ran == {"false-git"}
    hostile.forget()
    assert not git_module.is_installed()
    main.run(["init", str(hostile.root), "--host", "claude-code"])
    with pytest.raises(GitFailed, match="not installed"):
        git(hostile.root, "rev-parse", "--git-dir")
    assert hostile.ran == set()


def test_a_vault_inside_another_repository_says_so_and_gets_none_of_its_own(run: Run, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "work")], check=True)
    done = run("init", str(tmp_path / "work/mind"))
    assert done.code == 0 and not (tmp_path / "work/mind/.git").exists()
    assert f"in the git repository {tmp_path / 'work'}" in done.stderr and "git -C " in done.stderr
    assert "repository" not in run("init", str(tmp_path / "work/other"), "--no-git").stderr
    (tmp_path / "work/own").mkdir()
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "work/own")], check=True)
    assert "repository" not in run("init", str(tmp_path / "work/own"), "--adopt").stderr
