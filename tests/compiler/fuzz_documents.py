"""Reads damaged copies of one document, under limits, and prints what was neither text nor a named refusal.

Run as a program of its own, so that a parser that eats memory or never ends takes only this process with it:
python fuzz_documents.py DOCUMENT SEED COUNT. Prints one JSON object: {"read", "refused", "faults": [...], "peak_mib"}.
"""

from __future__ import annotations

import io
import json
import random
import resource
import signal
import sys
import zipfile
from pathlib import Path
from types import FrameType

MEMORY = 1 << 30  # bytes of address space beyond what is mapped when the first document is read
SECONDS = 5  # of processor time for one document of at most 100 kB; a reader needs a hundredth of it
TOKENS = [
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b"\r", b"\n\n\n", b"---\n", b"```", b"$$", b"{", b"}", b"[", b"]",
    b'"', b",", b":", b"<", b">", b"</", b"<!--", b"]]>", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#x202e;",
    b"null", b"-1", b"1e999", b"NaN", b"[[[[[[", b'{"a":{"a":', b"=SUM(A1)", b"#+BEGIN_SRC\n", b"* ",
    b"\\def\\a{\\a\\a}\\a", b"\\begin{a}", b"\\end{a}", b"\x1b]52;c;x\x07", "\u202e".encode(), "注意力".encode(),
    "e\u0301".encode(), b"%PDF-1.4", b"PK\x03\x04", b"../../../etc/passwd",
]  # fmt: skip


def damaged(data: bytes, dice: random.Random) -> bytes:
    """`data` after one to six random cuts, flips, repetitions and insertions."""
    out = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(out) + 1)
        size = min(dice.choice((1, 2, 8, 64, 512)), len(out) - at)
        match dice.randrange(7):
            case 0 if out:
                out[at % len(out)] ^= 1 << dice.randrange(8)
            case 1:
                del out[at : at + size]
            case 2:
                out[at:at] = out[at : at + size] * dice.choice((2, 3, 50))
            case 3 | 4:
                out[at:at] = dice.choice(TOKENS) * dice.choice((1, 1, 1, 40))
            case 5:
                del out[at:]
            case _:
                other = dice.randrange(len(out) + 1)
                out[at : at + size] = out[other : other + size]
    return bytes(out[:100_000])


def variants(data: bytes, dice: random.Random) -> bytes:
    """A damaged copy; of a zipped document, mostly one whose parts are damaged inside a sound archive."""
    if not data.startswith(b"PK\x03\x04") or dice.random() < 0.3:
        return damaged(data, dice)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        parts = [i for i in old.infolist() if not i.is_dir()]
        hit = {i.filename for i in dice.sample(parts, min(len(parts), dice.randint(1, 3)))}
        for part in parts:
            if part.filename in hit and dice.random() < 0.1:
                continue
            body = old.read(part)
            new.writestr(part.filename, damaged(body, dice) if part.filename in hit else body)
    return out.getvalue()


class TooLong(BaseException):
    """A reader did not come back in time; no reader's own `except` may swallow it."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooLong


def main() -> None:
    path, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from compiler.readers.read import read_source
    from vault.errors import Unreadable

    data = path.read_bytes()
    read_source(data, path.name)  # the document itself must be sound, and everything be loaded
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _linux() else 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    signal.signal(signal.SIGPROF, _alarm)
    tally = {"read": 0, "refused": 0}
    faults = []
    for number in range(count):
        copy = variants(data, random.Random(f"{path.name} {seed} {number}"))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            read_source(copy, path.name)
            tally["read"] += 1
        except Unreadable as refusal:
            tally["refused"] += 1
            if not refusal.what or "\n" in str(refusal):
                faults.append({"number": number, "what": f"not one line: {str(refusal)[:200]!r}"})
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            faults.append({"number": number, "what": f"{type(error).__name__}: {str(error)[:200]}"})
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps({**tally, "faults": faults, "peak_mib": _peak_mib()}))


def _peak_mib() -> int:
    """Of this program alone: on Linux `ru_maxrss` still counts whoever started it."""
    if not _linux():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) // 1024


def _linux() -> bool:
    return Path("/proc/self/statm").exists()


if __name__ == "__main__":
    main()
