"""What the hook of a host lets an agent do in a vault: beside each call that is blocked stands one that is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Protocol

import pytest

from cli import hook, main
from cli.territory import Territory, territory_of
from cli.tool_call import call_fault
from vault.store import open_vault
from vault.user import set_personal_vault

Call = tuple[str, dict[str, Any]]


def _make(tmp_path: Path) -> Path:
    """A vault with a note in each place, a personal vault and a file beside it, links and odd names."""
    root = tmp_path / "v"
    assert main.run(["init", str(root), "--no-git"]) == 0
    for path in ("insights/mine.md", "raw/articles/a.md", "wiki/concepts/a.md", "output/reports/r.md"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("words\n", encoding="utf-8")
    (root / "learning/reviews.jsonl").write_text("{}\n", encoding="utf-8")
    (root / ".git").mkdir()
    (root / "wiki/shortcut").symlink_to(root / "insights", target_is_directory=True)
    (root / "wiki/linked.md").hardlink_to(root / "insights/mine.md")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/way").symlink_to(root)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/diary.md").write_text("mine\n", encoding="utf-8")
    set_personal_vault(open_vault(str(root), None, root).settings.vault_id, tmp_path / "own")
    return root


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Such a vault of the test's own."""
    return _make(tmp_path)


class Judge(Protocol):
    def __call__(self, tool: str, given: dict[str, Any], cwd: str = "{V}") -> str | None: ...


@pytest.fixture(scope="module")
def territory(tmp_path_factory: pytest.TempPathFactory) -> Territory:
    """One vault for all the calls that are judged, as none is made."""
    top = tmp_path_factory.mktemp("territory")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(top / ".config"))
        patched.setenv("XDG_STATE_HOME", str(top / ".local/state"))
        vault = _make(top)
        return territory_of(open_vault(str(vault), None, vault))


@pytest.fixture
def judge(territory: Territory, monkeypatch: pytest.MonkeyPatch) -> Judge:
    """`judge("Bash", {...})`: why the call is blocked, made in the vault; {V} in texts is the vault, {P} its parent."""
    vault = Path(territory.root)
    monkeypatch.setenv("HOME", str(vault.parent))

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{V}", str(vault)).replace("{P}", str(vault.parent))
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        return [filled(each) for each in value] if isinstance(value, list) else value

    def call(tool: str, given: dict[str, Any], cwd: str = "{V}") -> str | None:
        return call_fault({"tool_name": tool, "tool_input": filled(given), "cwd": filled(cwd)}, territory)

    return call


# Blocked, then let through: the tools that name a file.
FILES: list[tuple[Call, Call]] = [
    (("Write", {"file_path": "{V}/insights/a.md"}), ("Write", {"file_path": "{V}/wiki/concepts/b.md"})),
    (("Edit", {"file_path": "{V}/insights/mine.md"}), ("Edit", {"file_path": "{V}/wiki/concepts/a.md"})),
    (("MultiEdit", {"file_path": "raw/articles/a.md"}), ("MultiEdit", {"file_path": "output/reports/r.md"})),
    (("NotebookEdit", {"notebook_path": "{V}/raw/n.ipynb"}), ("NotebookEdit", {"notebook_path": "output/n.ipynb"})),
    (("Write", {"file_path": "wiki/../insights/a.md"}), ("Write", {"file_path": "insights/../wiki/a.md"})),
    (("Write", {"file_path": "wiki/shortcut/a.md"}), ("Write", {"file_path": "wiki/topics/a.md"})),
    (("Write", {"file_path": "wiki/linked.md"}), ("Write", {"file_path": "wiki/unlinked.md"})),
    (("Write", {"file_path": "{P}/outside/way/insights/a.md"}), ("Write", {"file_path": "{P}/outside/way/wiki/a.md"})),
    (("Write", {"file_path": "Insights/a.md"}), ("Write", {"file_path": "output/insights.md"})),
    (("Write", {"file_path": "new.md"}), ("Write", {"file_path": "{P}/outside/new.md"})),
    (("Write", {"file_path": "AGENTS.md"}), ("Read", {"file_path": "AGENTS.md"})),
    (("Write", {"file_path": "retain.toml"}), ("Read", {"file_path": "retain.toml"})),
    (("Write", {"file_path": ".claude/settings.json"}), ("Read", {"file_path": ".claude/settings.json"})),
    (("Write", {"file_path": ".git/hooks/pre-commit"}), ("Read", {"file_path": ".git/config"})),
    (("Edit", {"file_path": "learning/reviews.jsonl"}), ("Edit", {"file_path": "learning/flashcards/a.md"})),
    (("Edit", {"file_path": "learning/_review.md"}), ("Read", {"file_path": "learning/_review.md"})),
    (("Write", {"file_path": "ledger/ids.jsonl"}), ("Read", {"file_path": "ledger/ids.jsonl"})),
    (("Read", {"file_path": "{P}/own/diary.md"}), ("Read", {"file_path": "insights/mine.md"})),
    (("Read", {"file_path": "../own/diary.md"}), ("Read", {"file_path": "raw/articles/a.md"})),
    (("Write", {"file_path": "{P}/own/new.md"}), ("Write", {"file_path": "{P}/owning/new.md"})),
    (("Grep", {"pattern": "x", "path": "{P}"}), ("Grep", {"pattern": "x", "path": "{V}"})),
    (("Glob", {"pattern": "{P}/own/**/*.md"}), ("Glob", {"pattern": "wiki/**/*.md"})),
    (("Glob", {"pattern": "*.md", "path": "{P}/own"}), ("Glob", {"pattern": "*.md"})),
    (
        ("mcp__files__write_file", {"path": "{V}/insights/a.md"}),
        ("mcp__files__read_file", {"path": "insights/mine.md"}),
    ),
    (
        ("mcp__obsidian__append", {"filepath": "insights/mine.md", "content": "x"}),
        ("mcp__obsidian__append", {"filepath": "wiki/concepts/a.md", "content": "see insights/mine.md"}),
    ),
    (("mcp__files__move", {"to": {"items": ["raw/articles/a.md"]}}), ("mcp__files__move", {"to": ["output/a.md"]})),
    (("mcp__files__read_file", {"path": "{P}/own/diary.md"}), ("mcp__files__list", {"path": "{V}/raw"})),
    (
        ("mcp__vault__delete", {"uri": "file://{V}/raw/articles/a.md"}),
        ("mcp__web__fetch", {"url": "https://x.org/raw/"}),
    ),
    (
        ("apply_patch", {"command": "*** Begin Patch\n*** Update File: insights/mine.md\n@@\n-a\n+b\n*** End Patch"}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: wiki/a.md\n+insights/\n*** End Patch"}),
    ),
    (
        ("apply_patch", {"input": "*** Update File: wiki/a.md\n*** Move to: raw/a.md\n"}),
        ("WebSearch", {"query": "raw/"}),
    ),
]

# Lines of shell, blocked and let through.
SHELL: list[tuple[str, str]] = [
    ("echo x > insights/a.md", "echo x > wiki/a.md"),
    ("echo x >> insights/mine.md", "cat insights/mine.md >> output/reports/r.md"),
    ("echo x >| raw/a.md", "echo raw/a.md"),
    ("cmd &> insights/log", "cmd &> output/log 2>&1"),
    ("echo x 1>insights/a.md", "grep -r words insights 2>/dev/null"),
    ("cat > insights/a.md <<'EOF'\nit's\nEOF", "cat > wiki/a.md <<'EOF'\nit's not insights/\nrm -r insights\nEOF"),
    ("rm insights/mine.md", "rm wiki/concepts/a.md"),
    ("rm -rf ./insights", "rm -rf ./output/reports"),
    ('rm -rf "{V}/insights"', 'rm -rf "{V}/output/figures"'),
    ("rm -rf *", "rm -rf output/*"),
    ("rm -r ins*", "rm -r wiki/con*"),
    ("rm -r [i]nsights", "rm -r wiki/[a-z]oncepts"),
    ("rm -r {insights,wiki}", "rm -r {wiki,output}/a.md"),
    ("rm 'insi'ghts/mine.md", "rm 'wi'ki/concepts/a.md"),
    ("rm insi\\ghts/mine.md", "rm wi\\ki/concepts/a.md"),
    ("rm $'\\x69nsights/mine.md'", "rm $'\\x77iki/concepts/a.md'"),
    ('D=insights; rm "$D/mine.md"', 'D=wiki; rm "$D/a.md"'),
    ('for f in insights/*.md; do rm "$f"; done', 'for f in wiki/concepts/*.md; do rm "$f"; done'),
    ("cd insights && rm mine.md", "cd wiki && rm a.md"),
    ("cd wiki; cd ..; rm -r raw", "cd raw; cd ../wiki; rm a.md"),
    ("mv insights/mine.md wiki/", "mv wiki/a.md wiki/b.md"),
    ("cp wiki/concepts/a.md insights/", "cp insights/mine.md output/"),
    ("cp -t raw wiki/concepts/a.md", "cp -t output raw/articles/a.md"),
    ("cp -l insights/mine.md wiki/x.md", "cp -p insights/mine.md output/x.md"),
    ("ln insights/mine.md wiki/x.md", "ln wiki/concepts/a.md wiki/x.md"),
    ("ln -s ../insights wiki/way", "ln -s concepts wiki/way"),
    ("touch -d yesterday insights/mine.md", "touch -d yesterday wiki/concepts/a.md"),
    ("chmod 600 insights/mine.md", "chmod 644 wiki/concepts/a.md"),
    ("truncate -s 0 learning/reviews.jsonl", "wc -l learning/reviews.jsonl"),
    ("tee insights/a.md < wiki/concepts/a.md", "cat insights/mine.md | tee output/a.md"),
    ("sed -i s/a/b/ insights/mine.md", "sed s/a/b/ insights/mine.md"),
    ("sed -i.bak s/a/b/ raw/articles/a.md", "sed -i s/a/b/ wiki/concepts/a.md"),
    ("sed -n 'w insights/x.md' wiki/concepts/a.md", "sed -n '1,3p' insights/mine.md"),
    ("perl -pi -e s/a/b/ insights/mine.md", "perl -ne print insights/mine.md"),
    ("sort -o insights/mine.md insights/mine.md", "sort insights/mine.md"),
    ("dd if=/dev/zero of=insights/mine.md", "dd if=insights/mine.md of=output/x.md"),
    ("find insights -name '*.md' -delete", "find insights -name '*.md'"),
    ("find insights -exec rm {} +", "find insights -exec cat {} +"),
    ("find . -name '*.md' -exec sed -i s/a/b/ {} ';'", "find output -name '*.md' -exec sed -i s/a/b/ {} ';'"),
    ("ls insights/* | xargs rm", "ls output/reports/* | xargs rm"),
    ("find raw -type f -print0 | xargs -0 -n 1 sed -i s/a/b/", "find raw -type f -print0 | xargs -0 -n 1 wc -l"),
    ("rm $(ls insights/*.md)", "rm $(ls wiki/concepts/*.md)"),
    ('ls raw/* | while read f; do rm "$f"; done', 'ls raw/* | while read f; do echo "$f"; done'),
    ("bash -c 'rm -r insights'", "bash -c 'ls insights'"),
    ("bash -lc 'cd raw && echo x > y'", "bash -lc 'cd raw && ls'"),
    ("eval 'rm -r insights'", "eval 'cat insights/mine.md'"),
    ("bash <<'EOF'\nrm -r insights\nEOF", "bash <<'EOF'\nls insights\nEOF"),
    ("echo `rm insights/mine.md`", "echo `cat insights/mine.md`"),
    ("cat <(rm insights/mine.md)", "diff <(cat insights/mine.md) wiki/concepts/a.md"),
    ("sudo rm -r insights", "sudo ls insights"),
    ("env X=1 timeout 5 rm -r insights", "env X=1 timeout 5 cat insights/mine.md"),
    ("true && (rm -r insights)", "true && (ls insights)"),
    ("if true; then rm -r insights; fi", "if true; then ls insights; fi"),
    ("python -c \"open('insights/a.md','w').write('x')\"", "python -c \"print(open('insights/mine.md').read())\""),
    (
        "python3 - <<'E'\nimport shutil; shutil.rmtree('raw')\nE",
        "python3 - <<'E'\nprint(len(open('raw/articles/a.md').read()))\nE",
    ),
    ("node -e \"require('fs').writeFileSync('insights/a.md','x')\"", 'node -e "console.log(1)"'),
    ("awk '{print > \"insights/a.md\"}' wiki/concepts/a.md", "awk '{print $1}' insights/mine.md"),
    ("pandoc wiki/concepts/a.md -o insights/a.md", "pandoc raw/articles/a.md -o output/a.html"),
    ("curl --output=raw/x.pdf https://example.org/x.pdf", "curl -o output/x.pdf https://example.org/x.pdf"),
    ("tar xf a.tar -C raw", "tar tf raw/a.tar"),
    ("unzip a.zip -d insights", "unzip a.zip -d output"),
    ("tar xf output/a.tar", "tar xf raw/a.tar -C output"),
    ("mkdir -p insights/deep", "mkdir -p wiki/topics/deep"),
    ("echo x > AGENTS.md", "head -3 AGENTS.md"),
    ("echo '{}' > .claude/settings.local.json", "cat .claude/settings.local.json"),
    ("echo x > .git/hooks/pre-commit", "ls .git/hooks"),
    ("echo x > ~/v/insights/a.md", "echo x > ~/v/wiki/a.md"),
    ('echo x > "${HOME}/v/raw/a.md"', 'cat "${HOME}/v/raw/articles/a.md"'),
    ("echo x > {P}/outside/way/raw/a.md", "echo x > {P}/outside/a.md"),
    ("cat {P}/own/diary.md", "cat {P}/outside/nothing.md"),
    ("grep -r secret ..", "grep -r secret ."),
    ("cd ../own && ls", "cd ../outside && ls"),
    ("git commit --no-verify -m x", "git commit -m 'no -n, no --no-verify'"),
    ("git commit -anm x", "git commit -am noon"),
    ("git -c core.hooksPath=/dev/null commit -m x", "git -c color.ui=never log"),
    ("git config core.hooksPath /dev/null", "git config --get user.name"),
    ("git checkout -- insights/mine.md", "git checkout -- wiki/concepts/a.md"),
    ("git restore .", "git restore wiki/concepts/a.md"),
    ("git reset --hard", "git status --short"),
    ("git clean -fdx", "git diff HEAD -- insights"),
    ("git stash", "git stash list"),
    ("git rm insights/mine.md", "git add wiki"),
    ("git diff --output=insights/x", "git diff --stat"),
    ("retain rate k7q2m9xd3f good", "retain card show k7q2m9xd3f"),
    ("retain gaps plan 4m8x1v6tqc", "retain gaps plan"),
    ("/usr/local/bin/retain add x.md", "/usr/local/bin/retain verify --json | head"),
    ("python -m cli.main undo", "python -m cli.main status"),
    ("echo y | retain doctor --accept", "retain doctor"),
    ("RETAIN_CAGED= retain compile", "RETAIN_CAGED= retain due"),
    ("x=$(retain guard audit --restore)", "x=$(retain guard status)"),
    ("[[ 1 > 0 ]] && rm -r raw", "[[ 12 > 10 ]] && echo yes"),
    ("rm insights/'mine.md", "echo it's fine"),
    ("echo a; echo b > ledger/ids.jsonl", "tail -1 ledger/ids.jsonl"),
]


@pytest.mark.parametrize(("blocked", "let_through"), FILES)
def test_tools_that_name_files(judge: Judge, blocked: Call, let_through: Call) -> None:
    assert judge(*blocked) is not None
    assert judge(*let_through) is None


@pytest.mark.parametrize(("blocked", "let_through"), SHELL)
def test_lines_of_shell(judge: Judge, blocked: str, let_through: str) -> None:
    assert judge("Bash", {"command": blocked}) is not None
    assert judge("Bash", {"command": let_through}) is None


LONG = "words, and more words: " * 40


def test_a_long_text_is_no_path(judge: Judge) -> None:
    """No name is longer than 255 bytes and no path than 4,096: such a word is neither there nor a reason to block."""
    for text in (LONG, LONG * 10, "a/" * 3_000, "x" * 300):
        assert judge("Bash", {"command": f"git commit -m '{text}'"}) is None
        assert judge("Bash", {"command": f"python -c \"print('{text}')\""}) is None
        assert judge("Bash", {"command": f"echo '{text}' > wiki/a.md"}) is None
        assert judge("Bash", {"command": f"echo '{text}' > insights/a.md"}) is not None
    assert judge("Write", {"file_path": "insights/" + "x" * 300}) is not None
    assert judge("Write", {"file_path": "wiki/" + "x" * 300}) is None


@pytest.mark.parametrize(
    "line",
    [
        "python -c '" + "open(" * 20_000 + "'",
        "$(" * 5_000,
        "rm " + "{a,b}" * 20,
        "a=1; rm " + "$a" * 5_000,
        "echo " + "insights " * 20_000,
        "rm wiki/*/*/*/*/*/*",
        "python - <<E\n" + "x = open('a', 'w') wiki/q\n" * 5_000 + "E",
    ],
    ids=lambda line: line[:20],
)
def test_a_line_made_to_be_hard_to_read_is_judged_all_the_same(judge: Judge, line: str) -> None:
    judge("Bash", {"command": line})  # no error, and in time: the hook would block at either


def test_powershell_is_read_too_and_tools_without_files_pass(judge: Judge) -> None:
    assert judge("PowerShell", {"command": "Remove-Item -Recurse .\\insights"}) is not None
    assert judge("PowerShell", {"command": "Get-Content .\\insights\\mine.md"}) is None
    assert judge("Bash", {"command": ["rm", "-r", "insights"]}) is not None
    assert judge("Bash", {"command": ["cat", "insights/mine.md"]}) is None
    assert judge("Bash", {"command": "ls", "dangerouslyDisableSandbox": True}) is not None
    assert judge("Task", {"prompt": "rm -r insights"}) is None
    assert judge("BashOutput", {"bash_id": "1"}) is None


def test_a_call_made_from_below_the_vault_is_judged_from_there(judge: Judge) -> None:
    assert judge("Write", {"file_path": "mine.md"}, "{V}/insights") is not None
    assert judge("Write", {"file_path": "a.md"}, "{V}/wiki") is None
    assert judge("Bash", {"command": "rm mine.md"}, "{V}/insights") is not None
    assert judge("Bash", {"command": "rm a.md"}, "{V}/wiki/concepts") is None


def _asked(vault: Path, given: bytes, monkeypatch: pytest.MonkeyPatch, host: str = "claude-code") -> int:
    """The exit code of the hook, asked in this process."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(given)))
    return main.run(["guard", "hook", host, "--vault", str(vault)])


def _call(vault: Path, path: str) -> bytes:
    return json.dumps({"tool_name": "Write", "tool_input": {"file_path": path}, "cwd": str(vault)}).encode()


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_answer_is_exit_code_2_with_words_or_silence(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    capsys.readouterr()
    assert _asked(vault, _call(vault, "wiki/a.md"), monkeypatch, host) == 0
    assert capsys.readouterr() == ("", "")
    assert _asked(vault, _call(vault, "insights/a.md"), monkeypatch, host) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("retain: blocked: ") and "human" in err


MALFORMED = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff",
    b"[" * 100_000,
    b'{"tool_name":"Write"}',
    b'{"tool_name":1,"tool_input":{},"cwd":"/"}',
    b'{"tool_name":"Write","tool_input":{"file_path":"a"}}',
    b'{"tool_name":"Write","tool_input":{"file_path":"a"},"cwd":"here"}',
    b'{"tool_name":"Write","tool_input":{"file_path":1},"cwd":"/"}',
    b'{"tool_name":"Write","tool_input":{"file_path":"a\\u0000b"},"cwd":"/"}',
    b'{"tool_name":"Bash","tool_input":{"command":1},"cwd":"/"}',
    b'{"tool_name":"apply_patch","tool_input":{},"cwd":"/"}',
]


@pytest.mark.parametrize("given", MALFORMED)
def test_a_call_that_cannot_be_read_is_blocked(vault: Path, monkeypatch: pytest.MonkeyPatch, given: bytes) -> None:
    assert _asked(vault, given, monkeypatch) == hook.BLOCK


def test_no_vault_a_damaged_one_and_a_call_that_is_too_large_block(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _asked(tmp_path / "outside", _call(vault, "wiki/a.md"), monkeypatch) == hook.BLOCK
    with monkeypatch.context() as patched:
        patched.setattr(hook, "_MOST", 100)
        assert _asked(vault, _call(vault, "wiki/" + "a" * 200), patched) == hook.BLOCK
    assert _asked(vault, _call(vault, "wiki/" + "a" * 200), monkeypatch) == 0
    (vault / "retain.toml").write_text("[", encoding="utf-8")
    assert _asked(vault, _call(vault, "wiki/a.md"), monkeypatch) == hook.BLOCK


def test_a_check_that_takes_too_long_blocks_before_the_host_gives_up(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pipe is never written: without an end of its own the hook would wait for ever, and the host let pass."""
    reading, writing = os.pipe()
    before = signal.getsignal(signal.SIGALRM)
    with os.fdopen(writing, "wb"), TextIOWrapper(os.fdopen(reading, "rb")) as never:
        monkeypatch.setattr(hook, "SECONDS", 1)
        monkeypatch.setattr("sys.stdin", never)
        assert main.run(["guard", "hook", "claude-code", "--vault", str(vault)]) == hook.BLOCK
    assert "1 s" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGALRM) is before


def test_the_hook_answers_as_a_process_of_its_own(vault: Path) -> None:
    for path, code in (("wiki/a.md", 0), ("insights/a.md", 2)):
        done = subprocess.run(
            [sys.executable, "-c", "from cli.main import main; main()", "guard", "hook", "claude-code"],
            input=_call(vault, path),
            cwd=vault,
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert done.stdout == b"" and bool(done.stderr) == bool(code)
