"""`retain engine`, and compiling with a program: what is here is shown, one is chosen, tried, and does the work."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli.engines import found
from tests.commands import SCRIPT, Result, Run

TIDES = """# Tides

A tide is the regular rise and fall of the sea that the Moon and the Sun cause.

## Kinds

A spring tide is a tide with an especially large range at new and full Moon.
"""
# Answers every type of request by rules: each sentence "A thing is ..." teaches a thing.
RULES = r"""
import re, sys
text = sys.stdin.read()
taught = []
label = ""
for line in text.split("\n"):
    begun = re.match(r"\[(\d+:\d+)\*?\] (.*)", line)
    label, line = begun.groups() if begun else (label, line)
    for letter, words in re.findall(r"(?:\{([a-z]{1,2})\})?([^{}]+)", line if label else ""):
        name = re.match(r"An? (\w+(?: tide)?) is ", words)
        if name:
            taught.append((name[1].capitalize(), words.strip(), label + letter, label))
if text.startswith("You read documents"):
    for title, sentence, cite, label in taught:
        print(f"CONCEPT {title} | page\nIS {sentence} [{cite}]\nFROM {label}")
elif text.startswith("Readers of a collection"):
    print("CLUSTER Sea: " + ", ".join(re.findall(r"^(\d+)", text, re.MULTILINE)))
elif text.startswith("You write pages"):
    for title, sentence, cite, _ in taught:
        print(f"=== {title}\n{sentence} [{cite}]")
        print(f"=== CARDS {title}\nK: definitional\nQ: What is a {title.lower()}?\nA: {sentence}\nC: {cite}")
    print("=== LEFT")
else:
    print("OK")
"""


@dataclass
class Desk:
    """A user with settings and programs of their own, and a vault with one document."""

    folder: Path
    run: Run

    @property
    def config(self) -> Path:
        return self.folder / "config/retain/config.toml"

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def environment(self, **more: str) -> dict[str, str]:
        path = str(self.folder / "bin")  # no program of whoever runs this
        return {"XDG_CONFIG_HOME": str(self.folder / "config"), "PATH": path, "ANTHROPIC_API_KEY": "", **more}

    def retain(self, *arguments: str, **variables: str) -> Result:
        cwd = self.vault if self.vault.exists() else self.folder
        return self.run(*arguments, cwd=cwd, env=self.environment(**variables))

    def json(self, *arguments: str, **variables: str) -> Any:
        return self.retain(*arguments, "--json", **variables).json()

    def program(self, name: str, code: str) -> Path:
        """Put a program on the user's PATH."""
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable} -I\n{code}")
        path.chmod(0o755)
        return path

    def configure(self, text: str) -> None:
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(text)

    def fill(self, **documents: str) -> None:
        """Make the vault, with these documents."""
        assert self.run("init", "vault", "--no-git", cwd=self.folder, env=self.environment()).code == 0
        for name, text in documents.items():
            (self.vault / f"raw/articles/{name}.md").write_text(text)


@pytest.fixture
def desk(tmp_path: Path, run: Run) -> Desk:
    return Desk(tmp_path, run)


# --- what is here ----------------------------------------------------------------------------------------------------


def test_the_list_shows_names_of_keys_and_programs_and_no_secret(desk: Desk) -> None:
    claude = desk.program("claude", RULES)
    desk.configure('[engine]\nkey_env = "MY_KEY"\n')
    done = desk.retain("engine", MY_KEY="sk-secret-0123456789")
    assert done.code == 0 and "MY_KEY" in done.stdout and str(claude) in done.stdout
    assert "retain engine use claude\n" in done.stdout and "retain engine use command -- claude -p" in done.stdout
    assert "secret" not in done.stdout + done.stderr
    listed = desk.json("engine", "list", MY_KEY="sk-secret-0123456789")
    assert listed["keys"] == ["MY_KEY"] and [p["name"] for p in listed["programs"]] == ["claude"]
    assert listed["compile"] == "" and listed["servers"] is None


def test_nothing_here_is_said_too(desk: Desk) -> None:
    done = desk.retain("engine")
    assert done.code == 0 and "ANTHROPIC_API_KEY is not set" in done.stdout and "none of claude" in done.stdout
    assert "to choose one" not in done.stdout


@contextmanager
def serving(status: int, body: bytes, seconds: float = 0.0) -> Iterator[str]:
    """Run a server on this machine that answers every GET so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(seconds)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


MODELS = json.dumps({"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "small"}]}).encode()


def test_a_server_that_names_its_models_is_found_also_behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("all_proxy", "http://127.0.0.1:9")
    with serving(200, MODELS) as url:
        assert found.servers([("Ollama", url)]) == [
            found.Server("Ollama", url, ("qwen3:8b", "small")),
        ]


@pytest.mark.parametrize(
    ("status", "body", "seconds"),
    [
        (404, MODELS, 0.0),
        (200, b"<html>", 0.0),
        (200, b'{"data": 3}', 0.0),
        (200, b"[1]", 0.0),
        (200, b"x" * (2 << 20), 0.0),
        (200, MODELS, 1.5),
    ],
)
def test_a_server_of_something_else_is_none(status: int, body: bytes, seconds: float) -> None:
    with serving(status, body, seconds) as url:
        assert found.servers([("Ollama", url)]) == []


def test_where_nobody_listens_there_is_no_server() -> None:
    with serving(200, MODELS) as url:
        pass
    assert found.servers([("Ollama", url)]) == []


# --- the choice ------------------------------------------------------------------------------------------------------


def test_a_choice_changes_its_lines_and_no_others(desk: Desk) -> None:
    desk.configure('# mine\n[app]\ntheme = "light"  # at night too\n\n[engine]\nkey_env = "MY_KEY"  # from the safe\n')
    done = desk.retain(
        "engine", "use", "command", "--env", "MY_KEY", "--check", "llm -m 'a b'", "--", "claude", "-p", ""
    )
    assert done.code == 0, done.stderr
    assert desk.config.read_text() == (
        '# mine\n[app]\ntheme = "light"  # at night too\n\n[engine]\nkey_env = "MY_KEY"  # from the safe\n'
        'compile = "command"\ncommand = ["claude", "-p", ""]\ncommand_check = ["llm", "-m", "a b"]\n'
        'command_env = ["MY_KEY"]\n'
    )
    listed = desk.json("engine")
    assert listed["compile"] == "command" and listed["command"] == ["claude", "-p", ""]


def test_another_server_has_other_models(desk: Desk) -> None:
    desk.configure('[engine]\nuse = "claude"\n[engine.models]\ngrade = "claude-haiku-5-5"  # fast\n')
    done = desk.json("engine", "use", "server", "http://127.0.0.1:11434/", "--model", "qwen3:8b", "--small")
    assert done["base_url"] == "http://127.0.0.1:11434" and done["part_bytes"] == 4_000
    assert done["models"] == dict.fromkeys(("read", "write", "check", "grade", "quiz"), "qwen3:8b")
    assert "# fast" in desk.config.read_text()
    back = desk.json("engine", "use", "claude", "--check", "claude-opus-5-5")
    assert back["base_url"] == "https://api.anthropic.com" and back["size"] == "large"
    assert back["models"] == {"check": "claude-opus-5-5", "grade": "claude-opus-5-5", "quiz": "claude-sonnet-5-5"}
    none = desk.json("engine", "use", "none")
    assert none["compile"] == "" and none["models"] == back["models"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["command"], "after `--`"),
        (["command", "--model", "m", "--", "claude"], "after `--`"),
        (["command", "--", "./here"], "absolute path"),
        (["command", "--env", "A=B", "--", "claude"], "command_env"),
        (["command", "--check", "llm 'x", "--", "claude"], "the value of --check cannot be parsed"),
        (["server", "http://127.0.0.1:1"], "the server's address and a model"),
        (["server", "http://example.org", "--model", "m"], "https address"),
        (["claude", "--", "claude", "-p"], "does not take a program"),
        (["nothing"], "nothing"),
    ],
)
def test_what_does_not_fit_together_is_not_written(desk: Desk, words: list[str], what: str) -> None:
    done = desk.retain("engine", "use", *words)
    assert done.code == 2 and what in done.stderr
    assert not desk.config.exists()


# --- one small question ----------------------------------------------------------------------------------------------


def test_a_try_says_whether_the_answer_has_the_form(desk: Desk) -> None:
    desk.program("model", RULES)
    assert desk.retain("engine", "try").code == 4
    assert desk.retain("engine", "use", "command", "--", "model").code == 0
    tried = desk.json("engine", "try")
    assert tried["usable"] and tried["concepts"] == ["Tide", "Spring tide", "Neap tide"] and tried["refused"] == []
    assert tried["engine"] == "command/1 model" and tried["seconds"] < 30 and tried["tokens"][0] > 100
    done = desk.retain("engine", "try")
    assert done.code == 0 and "has the form" in done.stdout and "3 concepts" in done.stdout


def test_a_try_says_what_is_wrong(desk: Desk) -> None:
    desk.program("model", "import sys; sys.exit('Not logged in. Run /login')")
    desk.retain("engine", "use", "command", "--", "model")
    done = desk.retain("engine", "try")
    assert done.code == 4 and "exited with code 1" in done.stderr and "Run /login" in done.stderr
    failed = desk.retain("engine", "try", "command", "--json")
    assert failed.code == 4 and failed.json()["usable"] is False and "Run /login" in failed.json()["hint"]
    desk.program("model", RULES.replace("IS {sentence} [{cite}]", "IS {sentence}"))
    done = desk.retain("engine", "try")
    assert done.code == 1 and "rejected" in done.stdout and "cites nothing" in done.stdout


# --- compiling -------------------------------------------------------------------------------------------------------


def test_a_program_compiles_a_vault_once(desk: Desk) -> None:
    runs = desk.folder / "runs"
    desk.program("model", f"open({str(runs)!r}, 'a').write('x')\n{RULES}")
    desk.fill(tides=TIDES)
    desk.retain("engine", "use", "command", "--", "model")
    cost = desk.json("engine", "cost")
    assert cost["engine"] == "command" and cost["requests"] == {"read": 1} and cost["now"]["usd"] is None
    assert cost["minutes"][0] <= cost["minutes"][1] and not runs.exists()
    text = desk.retain("engine", "cost").stdout
    assert "1 read" in text and "min" in text and "price unknown" in text

    done = desk.retain("compile")
    assert done.code == 0 and "model: about" in done.stderr
    article = (desk.vault / "wiki/concepts/spring-tide.md").read_text()
    assert "A spring tide is a tide with an especially large range at new and full Moon." in article
    asked = len(runs.read_text())
    assert desk.retain("compile").code == 0 and desk.retain("rebuild").code == 0
    assert len(runs.read_text()) == asked
    assert desk.json("status", "--cost")["total"]["questions"] == asked
    assert "nothing to request" in desk.retain("engine", "cost").stdout
    replies = [
        json.loads(line) for path in (desk.vault / "ledger/replies").iterdir() for line in path.read_text().splitlines()
    ]
    assert {reply["engine"] for reply in replies} == {"command/1 model"}


def test_a_program_that_fails_at_once_publishes_nothing(desk: Desk) -> None:
    desk.program("model", "import sys; sys.exit(3)")
    desk.fill(tides=TIDES)
    desk.retain("engine", "use", "command", "--", "model")
    done = desk.retain("compile")
    assert done.code == 4 and "model: it exited with code 3" in done.stderr and "Traceback" not in done.stderr
    assert not list((desk.vault / "wiki/concepts").glob("*.md"))


def test_without_a_command_the_engine_says_how_to_set_one(desk: Desk) -> None:
    desk.fill(tides=TIDES)
    done = desk.retain("compile", "--engine", "command")
    assert done.code == 4 and "retain engine use command" in done.stderr
    done = desk.retain("compile", "--engine", "command", "--budget", "2")
    assert done.code == 2 and "--engine claude" in done.stderr


def test_ctrl_c_keeps_what_was_answered_and_ends_the_programs(desk: Desk) -> None:
    going = desk.folder / "going"
    slow = f"""
import os, sys, time
if text.startswith("You write pages"):
    open({str(going)!r}, "w").write(str(os.getpid()))
    time.sleep(600)
"""
    desk.program("model", RULES.replace("taught = []", slow + "taught = []"))
    desk.fill(tides=TIDES)
    desk.retain("engine", "use", "command", "--", "model")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETAIN")}
    compiling = subprocess.Popen(
        [SCRIPT, "compile"],
        cwd=desk.vault,
        env=environment | desk.environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    while not (going.exists() and going.read_text()):
        assert compiling.poll() is None
        time.sleep(0.05)
    compiling.send_signal(signal.SIGINT)
    _, said = compiling.communicate(timeout=30)
    assert compiling.returncode == 130 and "the answers so far are stored" in said
    with pytest.raises(ProcessLookupError):
        os.kill(int(going.read_text()), 0)
    asked = desk.folder / "asked"
    desk.program("model", RULES.replace("taught = []", f"open({str(asked)!r}, 'a').write(text[:9] + '|')\ntaught = []"))
    assert desk.retain("compile").code == 0
    assert asked.read_text().startswith("You write|")  # READ and SETTLE are not asked again


@pytest.mark.parametrize(("program", "offered"), [("claude", True), ("other", False)])
def test_the_first_compile_offers_a_model_that_is_here_to_a_person(desk: Desk, program: str, offered: bool) -> None:
    desk.program(program, RULES)
    desk.fill(tides=TIDES)
    terminal, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETAIN")}
    done = subprocess.run(
        [SCRIPT, "compile"],
        cwd=desk.vault,
        env=environment | desk.environment(),
        stdout=end,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    )
    os.close(end)
    os.close(terminal)
    assert ("`retain engine` lists the models on this machine" in done.stderr) is offered
    assert "retain engine" not in desk.retain("compile").stderr  # no person reads it
