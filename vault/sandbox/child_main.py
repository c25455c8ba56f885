"""The main loop of a child process that reads untrusted data: it restricts itself, then answers line by line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vault.sandbox.self_sandbox import MEMORY_BYTES, limit_time, limit_worker, restrict_worker

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def serve(
    prepare: Callable[[], Answer],
    *,
    before: Callable[[], None] | None = None,
    readable: Path | None,
    seconds: int,
    renewed: bool = True,
    memory: int = MEMORY_BYTES,
    programs: bool = False,
) -> None:
    """Answer each line of standard input (one JSON object) with one line, until the input ends.

    `before` is called while the process is unrestricted; `prepare`, called once it is restricted, returns the function
    that answers. The process then reads `readable` and Python's own files, writes nothing, and has `memory` bytes of
    address space. `seconds` of processor time are for each request if `renewed`, else for all together. With
    `programs`, it may start programs of the system, which are restricted as it is.
    """
    # stdout is the line protocol, so what libraries print goes to stderr.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if before is not None:
        before()
    limit_worker(memory)
    restrict_worker(readable, programs=programs)  # before untrusted data comes in; its parsers are loaded after it
    sys.setrecursionlimit(2_000)
    limit_time(seconds)
    answer = prepare()
    with os.fdopen(os.dup(0), "rb") as requests:
        for line in requests:
            if renewed:
                limit_time(seconds)
            reply = answer(json.loads(line))
            replies.write(
                json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
            )
            replies.flush()
