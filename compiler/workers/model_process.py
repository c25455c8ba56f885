"""The speaking process: the one that calls models for a compile, in a jail that leaves it the network and nothing else.

Started as `python -I -m compiler.workers.model_process` with a working directory outside every vault. JSON lines come
in: the first
holds settings, key, prompts and budget; each further one a round of questions. Answers go out, a line each as it comes,
then {"over": true}. Where the input ends, whoever asked is gone, and so is this process.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from compiler.workers.bytecode import leave_bytecode
from vault.sandbox.self_sandbox import SPEAKER_BYTES, limit_worker, restrict_speaker
from vault.text.redaction import redact_all

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def main() -> None:
    """Answer rounds of questions until the input ends."""
    # Libraries that print must not break the line protocol: stdout is kept for answers, prints go to stderr.
    answers = os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells every process of its group; we end by our input
    leave_bytecode()
    limit_worker(SPEAKER_BYTES)
    restrict_speaker([os.environ[name] for name in CERTIFICATES if os.environ.get(name)])
    lines = os.fdopen(os.dup(0), encoding="utf-8")
    first = lines.readline()
    if first:
        put = rounds(json.loads(first), _teller(answers))
        for line in lines:
            put(json.loads(line))
    os._exit(0)  # threads that wait for a server are not waited for


def _teller(handle: int) -> Callable[[dict[str, Any]], None]:
    """Return a function that writes a line of JSON to a file descriptor, keys redacted."""
    lock = threading.Lock()

    def tell(line: dict[str, Any]) -> None:
        data = (json.dumps(redact_all(line), separators=(",", ":")) + "\n").encode()
        with lock:
            while data:
                data = data[os.write(handle, data) :]

    return tell


def rounds(begin: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """Return what answers a round of questions on a thread, so that the end of the input is seen at once."""
    from compiler.engines.claude.scheduler import Desk, Put, Setting
    from vault.config.engine import EngineSettings

    settings = EngineSettings(**begin["settings"])
    desk = Desk(Setting(settings, begin["key"], begin["systems"], begin["cap"]), tell)

    def answer(asked: dict[str, Any]) -> None:
        puts = [Put(**{**put, "blocks": tuple(put.get("blocks", ()))}) for put in asked["puts"]]
        try:
            desk.answer(
                puts,
                batch=asked["batch"],
                given=asked["given"],
                lost=asked.get("lost", ()),
                known=asked.get("known", ()),
            )
        except Exception as error:  # noqa: BLE001 (told, and the round is over)
            tell({"note": f"a defect of retain itself: {type(error).__name__}: {error}"})
        tell({"over": True, "lost": desk.purse.lost})

    def start(asked: dict[str, Any]) -> None:
        threading.Thread(target=answer, args=(asked,), daemon=True).start()

    return start


if __name__ == "__main__":
    main()
