"""The git hooks of a vault, in real repositories: an agent commits nothing that is the human's; a human does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cli import main, report
from cli.git_hook import MARKS, agent_in_message, agent_named, is_humans

HUMAN = {"name": "A. Human", "email": "human@example.org"}


def _without_agent(patched: pytest.MonkeyPatch) -> None:
    """These tests may be run by an agent: its marks are taken off, and git knows no settings but the test's."""
    for name in [*MARKS, *(name for name in os.environ if name.startswith("GIT_"))]:
        patched.delenv(name, raising=False)
    patched.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patched.setenv("GIT_CONFIG_SYSTEM", os.devnull)


@pytest.fixture(autouse=True)
def _no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_agent(monkeypatch)


def git(where: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    identity = {"GIT_AUTHOR_NAME": HUMAN["name"], "GIT_AUTHOR_EMAIL": HUMAN["email"]}
    identity |= {"GIT_COMMITTER_NAME": HUMAN["name"], "GIT_COMMITTER_EMAIL": HUMAN["email"]}
    return subprocess.run(
        ["git", *arguments],
        cwd=where,
        env={**os.environ, **identity, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def init(vault: Path, *more: str) -> int:
    return main.run(["init", str(vault), "--host", "codex", *more])


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault in a repository of its own, hooks and a first commit in it. Nothing in it names where it lies."""
    root = tmp_path_factory.mktemp("once") / "v"
    with pytest.MonkeyPatch.context() as patched:
        _without_agent(patched)
        assert init(root) == 0
        assert git(root, "add", "-A").returncode == 0
        done = git(root, "commit", "-qm", "first")
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def vault(tmp_path: Path, made_once: Path) -> Path:
    """Such a vault of the test's own."""
    shutil.copytree(made_once, tmp_path / "v", symlinks=True)
    return tmp_path / "v"


def staged(vault: Path, path: str) -> None:
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text("words\n", encoding="utf-8")
    assert git(vault, "add", "-f", path).returncode == 0


AGENT = {"CLAUDECODE": "1"}


@pytest.mark.parametrize(
    "path", ["insights/a.md", "raw/articles/a.md", "ledger/ids.jsonl", "learning/reviews.jsonl", "Insights/a.md"]
)
def test_an_agents_commit_of_what_is_the_humans_is_refused_and_the_humans_passes(vault: Path, path: str) -> None:
    staged(vault, path)
    refused = git(vault, "commit", "-qm", "x", env=AGENT)
    assert refused.returncode == 1
    assert path in refused.stderr and "CLAUDECODE is set" in refused.stderr
    assert git(vault, "log", "--oneline").stdout.count("\n") == 1
    passed = git(vault, "commit", "-qm", "x")
    assert passed.returncode == 0, passed.stderr


@pytest.mark.parametrize("path", ["wiki/concepts/a.md", "learning/flashcards/reviews.jsonl", "output/insights/a.md"])
def test_an_agents_commit_of_its_own_work_passes(vault: Path, path: str) -> None:
    staged(vault, path)
    done = git(vault, "commit", "-qm", "x", env=AGENT)
    assert done.returncode == 0, done.stderr


def test_deleting_and_moving_count_too(vault: Path) -> None:
    staged(vault, "insights/a.md")
    assert git(vault, "commit", "-qm", "mine").returncode == 0
    assert git(vault, "mv", "insights/a.md", "wiki/a.md").returncode == 0
    assert git(vault, "commit", "-qm", "x", env=AGENT).returncode == 1
    assert git(vault, "reset", "--hard").returncode == 0
    assert git(vault, "rm", "-q", "insights/a.md").returncode == 0
    assert git(vault, "commit", "-qm", "x", env=AGENT).returncode == 1


def test_what_is_committed_past_the_index_is_seen(vault: Path) -> None:
    """`commit -a` and `commit FILE` use an index of their own."""
    staged(vault, "insights/a.md")
    assert git(vault, "commit", "-qm", "mine").returncode == 0
    (vault / "insights/a.md").write_text("other words\n", encoding="utf-8")
    assert git(vault, "commit", "-qam", "x", env=AGENT).returncode == 1
    assert git(vault, "commit", "-qm", "x", "insights/a.md", env=AGENT).returncode == 1
    assert git(vault / "insights", "commit", "-qm", "x", "a.md", env=AGENT).returncode == 1
    (vault / "wiki/a.md").write_text("words\n", encoding="utf-8")
    assert git(vault, "add", "wiki/a.md").returncode == 0
    assert git(vault, "commit", "-qm", "x", "wiki/a.md", env=AGENT).returncode == 0


@pytest.mark.parametrize(
    "sign",
    [
        ["--author", "Claude <noreply@anthropic.com>"],
        ["--author", "Claude Opus 5 <someone@example.org>"],
        ["--author", "Cursor Agent <cursoragent@cursor.com>"],
        ["--trailer", "Co-authored-by: Claude <noreply@anthropic.com>"],
        ["--trailer", "Co-Authored-By: copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>"],
        ["-m", "Generated with [Claude Code](https://claude.com/claude-code)"],
    ],
)
def test_author_and_trailers_tell_an_agent_too(vault: Path, sign: list[str]) -> None:
    staged(vault, "insights/a.md")
    refused = git(vault, "commit", "-qm", "x", *sign)
    assert refused.returncode == 1, refused.stderr
    assert "insights/a.md" in refused.stderr
    assert git(vault, "rm", "-q", "--cached", "insights/a.md").returncode == 0
    staged(vault, "wiki/a.md")
    passed = git(vault, "commit", "-qm", "x", *sign)
    assert passed.returncode == 0, passed.stderr


def test_the_committer_tells_an_agent(vault: Path) -> None:
    staged(vault, "raw/a.md")
    by = {"GIT_COMMITTER_NAME": "aider (gpt-5)", "GIT_COMMITTER_EMAIL": "noreply@aider.chat"}
    assert git(vault, "commit", "-qm", "x", env=by).returncode == 1
    assert git(vault, "commit", "-qm", "x").returncode == 0


def test_whose_names_are_agents_and_whose_are_not() -> None:
    for agent in (
        "Claude <noreply@anthropic.com>",
        "Claude Code <x@example.org>",
        "openai codex <codex@openai.com>",
        "x <123+copilot@users.noreply.github.com>",
        "gemini-code-assist[bot] <x@users.noreply.github.com>",
        "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
    ):
        assert agent_named(agent), agent
    for human in (
        "Claude Monet <claude@monet.example>",
        "Devin Townsend <dt@example.org>",
        "A. Cursor <a@cursor.example>",
        "Ann <ann@anthropic.com>",
        "Gemini Ganesan <gg@example.org>",
        "C. Opilot <123+copilots@users.noreply.github.com>",
    ):
        assert not agent_named(human), human
    assert agent_in_message("words\n\nCo-authored-by: Claude Monet <claude@monet.example>") is None
    assert agent_in_message("words on Claude Code, generated by hand") is None


def test_which_paths_are_the_humans() -> None:
    assert all(map(is_humans, ["insights/a", "raw/a/b", "RAW/a", "ledger/x", "learning/reviews-2025.jsonl"]))
    assert not any(map(is_humans, ["wiki/insights/a", "learning/x/reviews.jsonl", "insights.md", "learning/gaps.md"]))


def test_a_vault_below_the_top_of_its_repository(tmp_path: Path) -> None:
    top = tmp_path / "repo"
    top.mkdir()
    assert git(top, "init", "-q").returncode == 0
    # git looks for hooks above the vault: they are shown, and the human puts them there
    assert init(top / "notes/my vault") == report.FINDINGS
    assert not list((top / ".git/hooks").glob("pre-commit"))
    assert not (top / "notes/my vault/.git").exists()


def test_the_hook_that_is_shown_for_such_a_vault_works_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top = tmp_path / "repo"
    top.mkdir()
    assert git(top, "init", "-q").returncode == 0
    capsys.readouterr()
    assert init(top / "notes/my vault") == report.FINDINGS
    out, err = capsys.readouterr()
    shown = out.split("#!/bin/sh")
    assert len(shown) == 3 and str(top / ".git/hooks/pre-commit") in err
    (top / ".git/hooks").mkdir(exist_ok=True)
    hook = top / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh" + shown[1], encoding="utf-8")
    hook.chmod(0o755)
    staged(top / "notes/my vault", "insights/a.md")
    staged(top, "insights/a.md")
    refused = git(top, "commit", "-qm", "x", env=AGENT)
    assert refused.returncode == 1 and "\n  insights/a.md\n" in refused.stderr
    assert git(top, "rm", "-q", "--cached", "notes/my vault/insights/a.md").returncode == 0
    passed = git(top, "commit", "-qm", "x", env=AGENT)  # that insights/ is not the vault's
    assert passed.returncode == 0, passed.stderr


def test_a_worktree_is_guarded_by_the_hooks_of_its_repository(vault: Path, tmp_path: Path) -> None:
    assert git(vault, "worktree", "add", "-q", str(tmp_path / "tree")).returncode == 0
    staged(tmp_path / "tree", "insights/a.md")
    assert git(tmp_path / "tree", "commit", "-qm", "x", env=AGENT).returncode == 1
    assert git(tmp_path / "tree", "commit", "-qm", "x").returncode == 0


def test_another_place_for_hooks_is_honoured(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert git(vault, "config", "core.hooksPath", ".hooks").returncode == 0
    capsys.readouterr()
    assert init(vault) == report.FINDINGS
    assert str(vault / ".hooks/pre-commit") in capsys.readouterr().err
    assert not (vault / ".hooks").exists()


def test_a_hook_of_the_humans_stays_and_what_to_add_is_said(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hook = vault / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    capsys.readouterr()
    assert init(vault) == report.FINDINGS
    assert hook.read_text(encoding="utf-8") == "#!/bin/sh\nexit 0\n"
    assert "guard hook git-pre-commit" in capsys.readouterr().err


def test_when_retain_is_gone_the_human_still_commits_and_the_agent_does_not(vault: Path, tmp_path: Path) -> None:
    for name in ("pre-commit", "commit-msg"):
        hook = vault / ".git/hooks" / name
        lines = hook.read_text(encoding="utf-8").splitlines()
        lines = [f"retain={tmp_path}/gone" if line.startswith("retain=") else line for line in lines]
        hook.write_text("\n".join(lines) + "\n", encoding="utf-8")
    staged(vault, "insights/a.md")
    refused = git(vault, "commit", "-qm", "x", env=AGENT)
    assert refused.returncode == 1 and "gone" in refused.stderr
    assert git(vault, "commit", "-qm", "x").returncode == 0


@pytest.mark.parametrize("state", ["gone", "damaged", "newer"])
def test_a_human_commits_whatever_has_become_of_the_vaults_settings(vault: Path, state: str) -> None:
    """On a branch without them, and to mend them; of an agent's commit nobody can tell then, and it is refused."""
    settings = (vault / "retain.toml").read_text(encoding="utf-8")
    if state == "gone":
        assert git(vault, "checkout", "-q", "--orphan", "other").returncode == 0
        assert git(vault, "rm", "-rqf", "retain.toml").returncode == 0
    else:
        newer = re.sub(r'(?m)^schema = "\d+', 'schema = "999', settings)
        assert newer != settings
        (vault / "retain.toml").write_text("[[[" if state == "damaged" else newer, encoding="utf-8")
    staged(vault, "insights/a.md")
    assert git(vault, "commit", "-qm", "x", env=AGENT).returncode == 1
    done = git(vault, "commit", "-qm", "x")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "script", ["#!/nowhere/python\n", "#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 127\n"], ids=["dead", "empty", "lost"]
)
def test_when_the_python_of_retain_is_gone_the_human_still_commits(vault: Path, tmp_path: Path, script: str) -> None:
    program = tmp_path / "retain"
    program.write_text(script, encoding="utf-8")
    program.chmod(0o755)
    for name in ("pre-commit", "commit-msg"):
        hook = vault / ".git/hooks" / name
        text = re.sub(r"(?m)^retain=.*$", f"retain={program}", hook.read_text(encoding="utf-8"))
        hook.write_text(text, encoding="utf-8")
    staged(vault, "insights/a.md")
    refused = git(vault, "commit", "-qm", "x", env=AGENT)
    assert refused.returncode == 1 and "does not work" in refused.stderr
    assert git(vault, "commit", "-qm", "x").returncode == 0


@pytest.mark.parametrize("mark", MARKS)
def test_each_mark_of_an_agent_is_known_to_the_hook(
    vault: Path, mark: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    staged(vault, "insights/a.md")
    monkeypatch.chdir(vault)
    for name, value in (("AUTHOR", HUMAN["name"]), ("COMMITTER", HUMAN["name"])):
        monkeypatch.setenv(f"GIT_{name}_NAME", value)
        monkeypatch.setenv(f"GIT_{name}_EMAIL", HUMAN["email"])
    assert main.run(["guard", "hook", "git-pre-commit"]) == 0
    monkeypatch.setenv(mark, "1")
    capsys.readouterr()
    assert main.run(["guard", "hook", "git-pre-commit"]) == report.FINDINGS
    assert mark in capsys.readouterr().err
    assert f"${{{mark}:-}}" in (vault / ".git/hooks/pre-commit").read_text(encoding="utf-8")
