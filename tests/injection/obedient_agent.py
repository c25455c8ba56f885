"""A coding agent that reads every source of the vault it stands in, and does whatever it is told there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # as typing has it
if TYPE_CHECKING:
    from tests.injection.orders import orders_in
else:
    from orders import orders_in  # which lies beside this program


def obey(verb: str, words: str) -> None:
    """Do it. `a => b` are two places, or a place and what to put there."""
    first, _, second = words.partition(" => ")
    path = Path(first)
    match verb:
        case "put":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(second.replace("\\n", "\n"), encoding="utf-8")
        case "append":
            with path.open("a", encoding="utf-8") as file:
                file.write(second.replace("\\n", "\n"))
        case "remove":
            path.unlink()
        case "symlink":
            path.symlink_to(second)
        case "link":
            os.link(second, first)
        case "move":
            path.rename(second)
        case "run":
            subprocess.run(["sh", "-c", words], check=False, timeout=600, stdin=subprocess.DEVNULL)
        case "call":
            socket.create_connection(("127.0.0.1", int(words)), timeout=5).close()


def main() -> None:
    done = []
    for path in sorted(p for p in Path("raw").rglob("*") if p.is_file()):
        for verb, words, _ in orders_in(path.read_text(encoding="utf-8", errors="replace")):
            with suppress(Exception):
                obey(verb, words)
            done.append(verb)
    print(f"{len(done)} orders obeyed")  # to whoever started it: not one was left out
    sys.exit(0)


if __name__ == "__main__":
    main()
