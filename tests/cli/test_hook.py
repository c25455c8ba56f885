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

from cli import main
from cli.guard.ownership import Territory, territory_of
from cli.hosts import hook
from cli.hosts.tool_call import call_fault
from vault.config.user import set_personal_vault
from vault.vault import open_vault

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
    ("echo x >| raw/a.md", "echo rawhide > output/a.md"),
    ("cat insights/mine.md", "cat wiki/concepts/a.md"),
    ('rm -rf "{V}/insights"', 'rm -rf "{V}/output/figures"'),
    ("rm -r {insights,wiki}", "rm -r {wiki,output}/a.md"),
    ("rm 'insi'ghts/mine.md", "rm 'wi'ki/concepts/a.md"),
    ("rm insi\\ghts/mine.md", "rm wi\\ki/concepts/a.md"),
    ("rm INSIGHTS/mine.md", "rm wiki/Insights.md"),
    ('D=insights; rm "$D/mine.md"', 'D=wiki; rm "$D/a.md"'),
    ('rm "$PWD/insights/mine.md"', 'rm "$PWD/wiki/a.md"'),
    ("cd wiki; rm -r ../raw", "cd wiki; rm -r ../output"),
    ("rm -r wiki/shortcut/mine.md", "rm -r wiki/topics/mine.md"),
    ("truncate -s 0 learning/reviews.jsonl", "wc -l learning/gaps.md"),
    ("rm learning/anki/notes.jsonl", "wc -l learning/reading-list.md"),
    ("curl --output=raw/x.pdf https://example.org/x.pdf", "curl -o output/x.pdf https://example.org/raw/x.pdf"),
    ("bash -c 'rm -r insights'", "bash -c 'ls wiki'"),
    ("python -c \"open('insights/a.md','w').write('x')\"", "python -c \"print(open('wiki/a.md').read())\""),
    ("python3 - <<'E'\nimport shutil; shutil.rmtree('raw')\nE", "python3 - <<'E'\nprint('words')\nE"),
    ("echo '{}' > .claude/settings.local.json", "cat AGENTS.md"),
    ("echo x >> retain.toml", "echo x >> output/pyproject.toml"),
    ("echo x > .git/hooks/pre-commit", "git status --short; git add wiki; git commit -m words"),
    ("echo x > ~/v/insights/a.md", "echo x > ~/v/wiki/a.md"),
    ('echo x > "${HOME}/v/raw/a.md"', 'cat "${HOME}/v/wiki/concepts/a.md"'),
    ("echo x > {P}/outside/way/raw/a.md", "echo x > {P}/outside/raw"),
    ("cat {P}/own/diary.md", "cat {P}/outside/nothing.md"),
    ("cd ../own && ls", "cd ../outside && ls"),
    ("retain rate k7q2m9xd3f good", "retain card show k7q2m9xd3f"),
    ("retain gaps plan 4m8x1v6tqc", "retain gaps plan"),
    ("/usr/local/bin/retain add x.md", "/usr/local/bin/retain verify --json | head"),
    ("python -m cli.main undo", "python -m cli.main status"),
    ("echo y | retain doctor --accept", "retain doctor"),
    ("RETAIN_CAGED= retain compile", "RETAIN_CAGED= retain due"),
    ("x=$(retain guard audit --restore)", "x=$(retain guard status)"),
    ("'retain' rate k7q2m9xd3f good", "echo to retain a word"),
    ("echo a; echo b > ledger/ids.jsonl", "tail -1 learning/flashcards/a.md"),
]


@pytest.mark.parametrize(("blocked", "let_through"), FILES)
def test_tools_that_name_files(judge: Judge, blocked: Call, let_through: Call) -> None:
    assert judge(*blocked) is not None
    assert judge(*let_through) is None


@pytest.mark.parametrize(("blocked", "let_through"), SHELL)
def test_lines_of_shell(judge: Judge, blocked: str, let_through: str) -> None:
    assert judge("Bash", {"command": blocked}) is not None
    assert judge("Bash", {"command": let_through}) is None


def test_a_long_text_is_no_path(judge: Judge) -> None:
    """No name is longer than 255 bytes and no path than 4,096: such a word is neither there nor a reason to block."""
    for text in ("words, and more words: " * 400, "a/" * 3_000, "x" * 300):
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


def test_orders_and_answers_in_the_work_folder_may_be_named_and_nothing_beside_it(
    judge: Judge, territory: Territory
) -> None:
    work = Path(territory.root, ".retain/work/orders")
    work.mkdir(parents=True, exist_ok=True)
    (work / "way").symlink_to(Path(territory.root, "insights"))
    name = ".retain/work/orders/read-3f9a1c2b4d5e.answer.txt"
    assert judge("Write", {"file_path": name}) is None
    assert judge("Bash", {"command": f"retain agent submit {name} --as one"}) is None
    assert judge("Bash", {"command": f"cat > {{V}}/{name} <<'END'\nCONCEPT Tide | page\nEND"}) is None
    for path in (".retain/cache/orders.json", ".retain/work/../cache/x", ".retain/work/orders/way/mine.md", ".retain"):
        assert judge("Bash", {"command": f"cat {path}"}) is not None, path
    assert judge("Write", {"file_path": ".retain/cache/orders.json"}) is not None


def test_powershell_is_read_too_and_tools_without_files_pass(judge: Judge) -> None:
    assert judge("PowerShell", {"command": "Remove-Item -Recurse .\\insights"}) is not None
    assert judge("PowerShell", {"command": "Get-Content .\\wiki\\a.md"}) is None
    assert judge("Bash", {"command": ["rm", "-r", "insights"]}) is not None
    assert judge("Bash", {"command": ["cat", "wiki/a.md"]}) is None
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
    assert out == "" and err.startswith("retain: blocked: ") and "user" in err


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
        patched.setattr(hook, "_MAX_BYTES", 100)
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
