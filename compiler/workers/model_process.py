"""The process that sends a compile's questions to models, in a sandbox with the network and nothing else.

Started as `python -I -m compiler.workers.model_process` with a working directory outside every vault. It reads JSON
lines: first the settings, key, system prompts and budget, then a line for each round of questions; rounds may overlap.
It writes a line for each answer as it comes, and {"over": true} after a round's. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from compiler.engines.claude.scheduler import RunSettings, Scheduler, Task
from compiler.workers.bytecode import leave_bytecode
from vault.config.engine import EngineSettings
from vault.sandbox.self_sandbox import MODEL_PROCESS_BYTES, limit_worker, restrict_model_process
from vault.text.redaction import redact_all

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def main() -> None:
    # stdout is the line protocol, so what libraries print goes to stderr.
    answers = os.dup(1)
    os.dup2(2, 1)
    # Ctrl-C reaches the whole process group; this process ends by its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_bytecode()
    limit_worker(MODEL_PROCESS_BYTES)
    restrict_model_process([os.environ[name] for name in CERTIFICATES if os.environ.get(name)])
    lines = os.fdopen(os.dup(0), encoding="utf-8")
    first = lines.readline()
    if first:
        start = rounds(json.loads(first), _line_writer(answers))
        for line in lines:
            start(json.loads(line))
    os._exit(0)  # without waiting for threads that wait for a server


def _line_writer(handle: int) -> Callable[[dict[str, Any]], None]:
    lock = threading.Lock()

    def write(line: dict[str, Any]) -> None:
        data = (json.dumps(redact_all(line), separators=(",", ":")) + "\n").encode()
        with lock:
            while data:
                data = data[os.write(handle, data) :]

    return write


def rounds(begin: dict[str, Any], report: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return a function that answers a round of questions on a thread, so that the end of the input is noticed."""
    settings = EngineSettings(**begin["settings"])
    scheduler = Scheduler(RunSettings(settings, begin["key"], begin["systems"], begin["cap"]), report)

    def answer(asked: dict[str, Any]) -> None:
        tasks = [Task(**{**task, "turns": tuple(task["turns"])}) for task in asked["tasks"]]
        try:
            scheduler.answer(tasks, batch=asked["batch"], open_batches=asked["open_batches"])
        except Exception as error:  # noqa: BLE001 (reported, and the round is over)
            report({"note": f"internal error in retain: {type(error).__name__}: {error}"})
        report({"over": True, "lost": scheduler.budget.lost})

    def start(asked: dict[str, Any]) -> None:
        threading.Thread(target=answer, args=(asked,), daemon=True).start()

    return start


if __name__ == "__main__":
    main()
