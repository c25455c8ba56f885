"""A program of the user's as the engine: real programs that answer, and that fail in every way a program can."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from compiler.engines.command.answer_text import said
from compiler.engines.command.backend import CommandBackend
from compiler.protocol.replies import ReadReply
from compiler.protocol.requests import (
    BlockView,
    CheckItem,
    CheckRequest,
    DocumentView,
    PassageView,
    ReadRequest,
    Request,
)
from compiler.replies.asker import Answered, Failed
from vault.config.command import CommandSettings
from vault.ids import digest12

# Answers READ by a rule: every passage "A thing is ..." teaches a thing.
HONEST = r"""
import re, sys
for label, words in re.findall(r"^\[(\d+:\d+)\] (.*)$", sys.stdin.read(), re.MULTILINE):
    name = re.match(r"An? (\w+) is ", words)
    if name:
        quote = " ".join(words.split()[:6])
        print(f'CONCEPT {name[1].capitalize()} | page\nIS {words} [{label} "{quote}"]\nFROM {label}')
"""
READING = "import sys\ntext = sys.stdin.read()\n"


def reading(*sentences: str) -> ReadRequest:
    """Return a request to read a document of these sentences, a passage each."""
    passages = tuple(
        PassageView(number=n, headings=("Tides",), blocks=(BlockView(key=digest12(words), text=words),))
        for n, words in enumerate(sentences, 1)
    )
    document = DocumentView(number=1, source="0123456789", title="Tides", language="en", passages=passages)
    return ReadRequest(documents=(document,))


TIDE = reading("A tide is the regular rise and fall of the sea.", "The Moon pulls the water.")


class Engine:
    """Programs written in a folder, put to a backend."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def program(self, code: str, name: str = "model.py") -> tuple[str, ...]:
        """Write a program; return the arguments that start it."""
        (self.folder / name).write_text(code)
        return sys.executable, "-I", str(self.folder / name)

    def answers(
        self, code: str, requests: Sequence[Request] = (TIDE,), **settings: Any
    ) -> list[tuple[int, Answered | Failed]]:
        """Return what a program answers, with its index, in the order in which it came."""
        with CommandBackend(CommandSettings(self.program(code), **settings)) as backend:
            return list(backend.answers(requests))

    def failure(self, code: str, **settings: Any) -> Failed:
        """Return the failure of a program with one request."""
        ((_, answer),) = self.answers(code, **settings)
        assert isinstance(answer, Failed), answer
        return answer


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def titles(answer: Answered | Failed) -> list[str]:
    assert isinstance(answer, Answered), answer
    assert isinstance(answer.reply, ReadReply)
    return [concept.title for concept in answer.reply.concepts]


# --- programs that answer --------------------------------------------------------------------------------------------


def test_an_honest_program_answers_every_request(engine: Engine) -> None:
    requests = [reading(f"A {name} is a thing of the sea.") for name in ("tide", "swell", "drift", "surge", "wave")]
    answers = dict(engine.answers(HONEST, requests, concurrency=3))
    assert [titles(answers[n]) for n in range(5)] == [["Tide"], ["Swell"], ["Drift"], ["Surge"], ["Wave"]]
    first = answers[0]
    assert isinstance(first, Answered)
    assert first.engine == f"command/1 {Path(sys.executable).name}"
    assert first.usd is None and first.tokens[0] > 500 and first.tokens[1] > 10
    assert first.size[0] > 2_000 and first.size[1] > 40


def test_several_programs_run_at_once_and_no_more_than_are_allowed(engine: Engine) -> None:
    log = engine.folder / "log"
    code = (
        f"""
import os, sys, time
with open({str(log)!r}, "a") as log:
    log.write("+\\n"); log.flush(); time.sleep(0.4); log.write("-\\n")
"""
        + HONEST
    )
    engine.answers(code, [reading(f"A w{n} is a thing.") for n in range(6)], concurrency=3)
    running, most = 0, 0
    for line in log.read_text().split():
        running += 1 if line == "+" else -1
        most = max(most, running)
    assert most == 3


def test_another_program_checks(engine: Engine) -> None:
    item = CheckItem(key=digest12("k"), about="Tide", text="A tide rises.", places=("1:1a",))
    checker = engine.program("print('OK')", "checker.py")
    settings = CommandSettings(engine.program(HONEST), check=(*checker, "--model", "small"))
    with CommandBackend(settings) as backend:
        answers = dict(backend.answers([TIDE, CheckRequest(items=(item,))]))
    checked = answers[1]
    assert titles(answers[0]) == ["Tide"]
    assert isinstance(checked, Answered) and checked.engine.endswith("small")
    assert checked.reply.as_json()["verdicts"][0]["verdict"] == "ok"


@pytest.mark.parametrize(
    "wrapped",
    [
        "print('```text\\n' + answer + '```')",
        "print('Sure! Here is what the documents teach:\\n\\n' + answer + '\\nLet me know if you need more.')",
        "print('\\x1b[?25l\\x1b[2K\\x1b]0;model\\x07\\x1b[1m' + answer.replace('\\n', '\\x1b[0m\\r\\n'))",
        "print('<think>\\nCONCEPT Foam | page\\nFROM 1:2\\n</think>\\n' + answer)",
        "import json; print(json.dumps({'type': 'result', 'is_error': False, 'result': answer}))",
        "print('\\ufeff' + answer)",
        "sys.stdout.buffer.write(answer.replace('\\n', '\\r\\n').encode('utf-8'))",
    ],
    ids=["fence", "chatter", "colours", "thoughts", "json", "byte order mark", "line ends"],
)
def test_what_programs_put_around_an_answer_is_taken_off(engine: Engine, wrapped: str) -> None:
    code = "import io, sys\nout, sys.stdout = sys.stdout, io.StringIO()\n" + HONEST
    code += f"answer = sys.stdout.getvalue()\nsys.stdout = out\n{wrapped}\n"
    ((_, answer),) = engine.answers(code)
    assert titles(answer) == ["Tide"]
    assert isinstance(answer, Answered) and not answer.refused


def test_a_line_at_fault_is_mended_in_a_second_run(engine: Engine) -> None:
    asked = engine.folder / "asked"
    code = (
        READING
        + f"""
open({str(asked)!r}, "a").write(text + "\\n@@@\\n")
if "WHAT IS LEFT TO DO" in text:
    print('LINE 2: IS It is a rise of the sea. [1:1 "rise and fall of the sea"]')
else:
    print('CONCEPT Tide | page\\nIS It is a rise of the sea. [1:1 "invented words of no passage"]\\nFROM 1:1')
"""
    )
    ((_, answer),) = engine.answers(code)
    assert isinstance(answer, Answered) and isinstance(answer.reply, ReadReply)
    line = answer.reply.concepts[0].line
    assert line is not None and line.text == "It is a rise of the sea." and not answer.refused
    first, second = asked.read_text().split("\n@@@\n")[:2]
    assert second.startswith(first) and "invented words of no passage" in second


def test_the_second_run_may_fail_where_the_first_was_usable(engine: Engine) -> None:
    code = (
        READING
        + """
if "WHAT IS LEFT TO DO" in text:
    sys.exit(1)
print('CONCEPT Tide | page\\nFROM 1:1\\nCONCEPT Moon | page\\nFROM 7:77')
"""
    )
    ((_, answer),) = engine.answers(code)
    assert titles(answer) == ["Tide"]
    assert isinstance(answer, Answered) and answer.refused


def test_prose_is_asked_for_again_and_may_then_be_an_answer(engine: Engine) -> None:
    code = (
        READING
        + """
if "WHAT IS LEFT TO DO" in text:
    print('CONCEPT Tide | page\\nFROM 1:1')
else:
    print("The document is about tides.")
"""
    )
    assert titles(engine.answers(code)[0][1]) == ["Tide"]


def test_half_an_answer_counts_as_far_as_it_goes(engine: Engine) -> None:
    code = READING + "sys.stdout.write('CONCEPT Tide | page\\nFROM 1:1\\nCONCEPT Moon | page\\nIS It pu')"
    ((_, answer),) = engine.answers(code)
    assert titles(answer) == ["Tide"]
    assert isinstance(answer, Answered) and answer.refused


# --- programs that do not --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("pass", "it printed nothing"),
        (READING + "print('   \\n\\n')", "it printed nothing"),
        (READING + "print('Tides are lovely.')", "is not in the requested format"),
        (READING + "print('{\"concepts\": [')", "is not in the requested format"),
        (READING + "sys.exit(1)", "exited with code 1"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "signal 11"),
        (READING + "sys.stdout.buffer.write(bytes(range(128, 256)) * 9)", "is not in the requested format"),
        (READING + "import json; print(json.dumps({'is_error': True, 'result': 'out of credit'}))", "reports an error"),
    ],
    ids=["nothing", "blanks", "prose", "half JSON", "exit 1", "crash", "not UTF-8", "an error in JSON"],
)
def test_a_program_without_an_answer_fails_with_the_reason(engine: Engine, code: str, what: str) -> None:
    failed = engine.failure(code)
    assert what in failed.what and failed.hint
    assert failed.final == ("form" not in what)  # a program that runs may do better with another document
    assert failed.what.isprintable() and failed.hint.isprintable()


def test_the_reason_is_what_the_program_says_last(engine: Engine) -> None:
    code = "import sys; sys.stderr.write('x' * 9_000 + '\\n\\x1b[31mPlease run /login\\x1b[0m\\n'); sys.exit(7)"
    failed = engine.failure(code)
    assert "exited with code 7" in failed.what and "Please run /login" in failed.hint
    assert len(failed.hint) < 500 and "\x1b" not in failed.hint
    assert (
        "out of credit"
        in engine.failure(
            READING + "import json; print(json.dumps({'is_error': True, 'result': 'out of credit'}))"
        ).hint
    )


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_is_cut_short(engine: Engine, stream: str) -> None:
    code = f"import sys\nfor _ in range(1024): sys.{stream}.write('x' * (1 << 20))"
    began = time.monotonic()
    assert "MiB" in engine.failure(code).what
    assert time.monotonic() - began < 10


def test_a_program_that_never_ends_is_killed(engine: Engine) -> None:
    pid = engine.folder / "pid"
    code = f"""
import os, time
open({str(pid)!r}, "w").write(str(os.getpid()))
print("CONCEPT Tide | page", flush=True)
time.sleep(600)
"""
    began = time.monotonic()
    assert "it took too long" in engine.failure(code, patience=1.0).what
    assert time.monotonic() - began < 4
    assert not alive(int(pid.read_text()))


def test_a_program_that_closes_its_output_and_goes_on_is_killed(engine: Engine) -> None:
    code = "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(600)"
    assert "it took too long" in engine.failure(code, patience=1.0).what


def test_a_program_that_asks_finds_nobody(engine: Engine) -> None:
    on_terminal = "open('/dev/tty', 'r+')"
    assert "exited with code 1" in engine.failure(READING + on_terminal).what
    after_the_end = READING + "print(repr(sys.stdin.readline()), sys.stdin.isatty(), file=sys.stderr)\ninput('Go on? ')"
    failed = engine.failure(after_the_end)
    assert "exited with code 1" in failed.what and "EOFError" in failed.hint


def test_a_grandchild_that_holds_the_output_is_not_waited_for(engine: Engine) -> None:
    pid = engine.folder / "pid"
    code = f"""
import subprocess
open({str(pid)!r}, "w").write(str(subprocess.Popen(["sleep", "600"]).pid))
"""
    began = time.monotonic()
    assert titles(engine.answers(code + HONEST)[0][1]) == ["Tide"]
    assert time.monotonic() - began < 8
    assert not alive(int(pid.read_text()))


def test_a_program_that_reads_nothing_may_answer_a_long_request(engine: Engine) -> None:
    long = reading(*(f"A w{n} is a thing of the sea. {'word ' * 100}" for n in range(2_000)))
    answers = engine.answers("print('CONCEPT W1 | page\\nFROM 1:2')", [long])
    assert titles(answers[0][1]) == ["W1"]


# --- what it gets ----------------------------------------------------------------------------------------------------


def test_its_folder_is_empty_and_its_environment_clean(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    monkeypatch.chdir(vault)
    for name in ("RETAIN_VAULT", "SECRET_OF_MINE", "LD_PRELOADED", "NAMED_KEY", "LC_TIME"):
        monkeypatch.setenv(name, "value-1234567")
    seen = tmp_path / "seen"
    code = (
        f"""
import json, os, sys
folder = os.getcwd()
seen = {{"cwd": folder, "files": os.listdir(folder), "env": dict(os.environ), "args": sys.argv[1:],
         "handles": sorted(int(n) for n in os.listdir("/dev/fd") if os.path.exists(f"/dev/fd/{{n}}"))}}
open({str(seen)!r}, "w").write(json.dumps(seen))
open("left-behind", "w").write("x")
"""
        + HONEST
    )
    arguments = (*engine.program(code), "a b", "$HOME", "; touch x")
    with CommandBackend(CommandSettings(arguments, variables=("NAMED_KEY", "UNSET"))) as backend:
        list(backend.answers([TIDE]))
    told = json.loads(seen.read_text())
    assert told["files"] == [] and told["args"] == ["a b", "$HOME", "; touch x"]
    assert not Path(told["cwd"]).is_relative_to(vault) and not Path(told["cwd"]).exists()
    allowed = "PATH HOME USER LOGNAME LANG LANGUAGE TMPDIR TERM NO_COLOR NAMED_KEY".split()
    others = {name for name in told["env"] if name not in allowed and not name.startswith("LC_")}
    assert not others and told["env"]["LC_TIME"] == "value-1234567" and told["env"]["NAMED_KEY"] == "value-1234567"
    assert told["env"]["TERM"] == "dumb"
    assert told["handles"] == [0, 1, 2]
    assert list(vault.iterdir()) == []


def test_a_key_that_the_program_prints_is_not_stored(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_API_KEY", "sk-live-canary-27182818284")
    code = READING + "import os\nsys.exit('bad key ' + os.environ['MODEL_API_KEY'])"
    failed = engine.failure(code, variables=("MODEL_API_KEY",))
    assert "bad key" in failed.hint and "27182818284" not in failed.hint


# --- when to give up -------------------------------------------------------------------------------------------------


def test_a_program_that_is_not_there_ends_the_compile(tmp_path: Path) -> None:
    for arguments, what in (
        (("no-such-program-at-all",), "the program no-such-program-at-all was not found"),
        ((str(tmp_path / "gone"),), "the program gone was not found"),
    ):
        with CommandBackend(CommandSettings(arguments)) as backend:
            ((_, failed),) = backend.answers([TIDE] * 5)
        assert isinstance(failed, Failed) and failed.final and what in failed.what
    plain = tmp_path / "plain"
    plain.write_text("no program")
    plain.chmod(stat.S_IRUSR | stat.S_IWUSR)
    with CommandBackend(CommandSettings((str(plain),))) as backend:
        ((_, failed),) = backend.answers([TIDE])
    assert isinstance(failed, Failed) and failed.final and "plain cannot be started: permission denied" in failed.what


def test_the_first_failures_end_a_compile_that_has_no_answer(engine: Engine) -> None:
    runs = engine.folder / "runs"
    code = f"import sys\nopen({str(runs)!r}, 'a').write('x')\nsys.exit(1)"
    answers = engine.answers(code, [reading(f"A w{n} is a thing.") for n in range(50)], concurrency=2)
    assert len(answers) == 2 and isinstance(last := answers[-1][1], Failed) and last.final
    assert len(runs.read_text()) <= 4


def test_a_failure_among_answers_does_not_end_it(engine: Engine) -> None:
    code = READING + "sys.stdin = __import__('io').StringIO(text)\nif 'A w7 ' in text: sys.exit(1)\n" + HONEST
    requests = [reading(f"A w{n} is a thing.") for n in range(10)]
    answers = dict(engine.answers(code, requests))
    assert len(answers) == 10 and isinstance(failed := answers[7], Failed) and not failed.final
    assert sum(isinstance(answer, Answered) for answer in answers.values()) == 9


def test_a_program_that_never_has_the_form_ends_it_after_some(engine: Engine) -> None:
    answers = engine.answers(READING + "print('I see.')", [reading(f"A w{n} is a thing.") for n in range(50)])
    assert len(answers) == 8 and isinstance(last := answers[-1][1], Failed) and last.final
    assert "larger model" in last.hint and "I see." in last.hint


def test_closing_the_backend_kills_what_runs(engine: Engine) -> None:
    pids = engine.folder / "pids"
    code = f"import os, time\nopen({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(600)"
    backend = CommandBackend(CommandSettings(engine.program(code)))
    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.extend(backend.answers([TIDE] * 4)))
    asking.start()
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        time.sleep(0.02)
    with backend:
        pass
    asking.join(5)
    assert not asking.is_alive() and not any(alive(int(pid)) for pid in pids.read_text().split())
    assert len(pids.read_text().split()) == 2


def alive(pid: int) -> bool:
    """Return whether a process runs; a moment is given to one that was killed."""
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        with suppress(OSError):
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                return False
        time.sleep(0.02)
    return True


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("claude", "-p"), "claude"),
        (("/opt/bin/claude", "-p", "--model", "opus"), "claude opus"),
        (("claude", "--model=opus", "-p"), "claude opus"),
        (("ollama", "run", "qwen3:8b"), "ollama qwen3:8b"),
        (("llm", "-m", "small"), "llm small"),
        (("codex", "exec", "-"), "codex"),
    ],
)
def test_the_engine_is_named_by_program_and_model(arguments: tuple[str, ...], name: str) -> None:
    assert CommandBackend(CommandSettings(arguments)).name == f"command/1 {name}"


def test_only_an_object_with_text_is_an_envelope() -> None:
    assert said(b'{"response": "OK", "done": true}').text == "OK"
    assert said(b'{"concepts": []}').text == '{"concepts": []}'
    assert said(b'{"result": 3, "text": "OK"}').text == "OK"
    assert said(b'["OK"]').text == '["OK"]'
    assert said(b"```\nOK\n```\nand\n```\nOK\n```").text.count("```") == 4
    assert said(b" \n\n ").text == ""
