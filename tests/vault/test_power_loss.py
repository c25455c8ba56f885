"""The power fails after any call of any writer: what the disk may hold then is the old file or the new, never both.

Acknowledged means on disk: after the writer has returned, the new file is the only thing the disk may hold.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.vault.power_loss import BEGIN, END, Content, Disk, Op, recorded

if sys.platform != "linux":
    pytest.skip("strace is a program of Linux: the model of power loss was not run here", allow_module_level=True)
if shutil.which("strace") is None:
    if os.environ.get("CI"):
        pytest.fail("strace is missing, and CI has to have it", pytrace=False)
    pytest.skip("no strace here: the model of power loss was not run", allow_module_level=True)

OLD, NEW = b"the old words of the page\n", b"the new words of the page, and more of them\n"
LINE, TORN = b'{"type":"review"}\n', b'{"type":"rev'
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Writer:
    """`code` is run in a vault at `root`; its `path` may hold `old` before, `new` after, and in between either.

    A log may also hold a line in part, which its readers name and skip: `torn` says so.
    """

    name: str
    code: str
    path: str
    old: Content
    new: Content
    torn: bool = False


PAGE, LOG = "wiki/concepts/a.md", "learning/reviews.jsonl"
WRITERS = [
    Writer("replace", f"guard().write({PAGE!r}, NEW, expect=OLD_SHA)", PAGE, OLD, NEW),
    Writer("create", "guard().write('wiki/concepts/b.md', NEW, expect=None)", "wiki/concepts/b.md", None, NEW),
    Writer("create in a new folder", "guard().write('wiki/new/b.md', NEW, expect=None)", "wiki/new/b.md", None, NEW),
    Writer("remove", f"guard().remove({PAGE!r}, expect=OLD_SHA)", PAGE, OLD, None),
    Writer("append", f"guard('LOG').append({LOG!r}, LINE)", LOG, OLD, OLD + LINE, torn=True),
    Writer("first line", "guard().append('ledger/ids.jsonl', LINE)", "ledger/ids.jsonl", None, LINE, torn=True),
    Writer(
        "append after a torn line",
        "guard('LOG').append('learning/reviews-2025.jsonl', LINE)",
        "learning/reviews-2025.jsonl",
        TORN,
        TORN + b"\n" + LINE,
        torn=True,
    ),
    Writer("add", "guard('ADD').copy_in(root / 'source.md', 'raw/papers/a.md')", "raw/papers/a.md", None, NEW),
    Writer("export", "export(root / 'output/deck.apkg')", "output/deck.apkg", None, NEW),
    Writer("export over", "export(root / 'output/old.apkg')", "output/old.apkg", OLD, NEW),
    Writer(
        "a note of the human's", "guard('INSIGHT').write('insights/n.md', NEW, expect=None)", "insights/n.md", None, NEW
    ),
    Writer("restore", "guard('RESTORE').write('insights/o.md', NEW, expect=OLD_SHA)", "insights/o.md", OLD, NEW),
]
MOVED = f"os.rename(root / 't', root / {PAGE!r})"
NAIVE = [
    Writer("in place", f"(root / {PAGE!r}).write_bytes(NEW)", PAGE, OLD, NEW),
    Writer("renamed without a sync", f"temp(root); {MOVED}", PAGE, OLD, NEW),
    Writer("no sync of the folder", f"temp(root, True); {MOVED}", PAGE, OLD, NEW),
    Writer(
        "removed first",
        f"os.unlink(root / {PAGE!r}); temp(root, True); {MOVED}; sync(root / 'wiki/concepts')",
        PAGE,
        OLD,
        NEW,
    ),
    Writer("append without a sync", f"add(root / {LOG!r})", LOG, OLD, OLD + LINE, torn=True),
    Writer(
        "log written anew",
        f"(root / {LOG!r}).write_bytes(OLD + LINE); sync(root / {LOG!r})",
        LOG,
        OLD,
        OLD + LINE,
        torn=True,
    ),
]
SCRIPT = f"""
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from vault.files.guard import Guard, Scope, sha256_hex
from vault.files.exports import export_file
OLD, NEW, LINE, base = {OLD!r}, {NEW!r}, {LINE!r}, Path(sys.argv[2])
OLD_SHA = sha256_hex(OLD)
def guard(scope='PUBLISHER'):
    return Guard(root, Scope[scope])
def export(path):
    with export_file(path) as temp:
        temp.write_bytes(NEW)
def sync(path):
    handle = os.open(path, os.O_RDONLY); os.fsync(handle); os.close(handle)
def add(path):
    with open(path, 'ab') as file:
        file.write(LINE)
def temp(root, synced=False):
    with open(root / 't', 'wb') as file:
        file.write(NEW); file.flush(); synced and os.fsync(file.fileno())
for number, code in enumerate(sys.argv[3:]):
    root = base / str(number)
    os.access(f'{BEGIN}{{number}}', os.F_OK)
    exec(code)
    os.access(f'{END}{{number}}', os.F_OK)
"""


def _vault(root: Path) -> None:
    for folder in ("wiki/concepts", "learning", "ledger", "raw/papers", "insights", "output"):
        (root / folder).mkdir(parents=True)
    (root / "retain.toml").write_text("[vault]\n")
    for path in (PAGE, LOG, "output/old.apkg", "insights/o.md"):
        (root / path).write_bytes(OLD)
    (root / "learning/reviews-2025.jsonl").write_bytes(TORN)
    (root / "source.md").write_bytes(NEW)


def _faults(base: Path, writers: list[Writer]) -> dict[str, list[str]]:
    """What the disk may wrongly hold, by writer; and under "states" how many states were looked at."""
    for number in range(len(writers)):
        _vault(base / str(number))
    disk = Disk.of(base)
    found: dict[str, list[str]] = {writer.name: [] for writer in writers}
    seen, calls = 0, dict.fromkeys(found, 0)
    ops = recorded(SCRIPT, [str(CHECKOUT), str(base), *(w.code for w in writers)], base / "trace")
    current: Writer | None = None
    path = ""
    for op in ops:
        if op.call == "access":
            current, path = _marked(op, writers, base, current, path)
            if op.path.startswith(END):
                done = writers[int(op.path.removeprefix(END))]
                held = disk.states(str(base / str(writers.index(done)) / done.path))
                seen += len(held)
                found[done.name] += [f"acknowledged, and may be {s!r}" for s in held if s != done.new]
            continue
        disk.make(op)
        if current is not None:
            calls[current.name] += 1
            held = disk.states(path)
            seen += len(held)
            found[current.name] += [f"after {op.call} of {op.path}: {s!r}" for s in held if not _fine(current, s)]
    assert min(calls.values()) >= (3 if writers is WRITERS else 1), f"calls were not seen: {calls}"
    found["states"] = [str(seen)]
    return found


def _marked(op: Op, writers: list[Writer], base: Path, now: Writer | None, path: str) -> tuple[Writer | None, str]:
    if op.path.startswith(BEGIN):
        number = int(op.path.removeprefix(BEGIN))
        return writers[number], str(base / str(number) / writers[number].path)
    return (None, "") if op.path.startswith(END) else (now, path)


def _fine(writer: Writer, state: Content) -> bool:
    if state in (writer.old, writer.new):
        return True
    if not writer.torn or state is None:
        return False
    return state.startswith(writer.old or b"")  # the rest is a line in part, or zeros


def test_after_a_power_loss_a_file_is_old_or_new_and_what_was_acknowledged_is_there(
    tmp_path: Path, tally: Callable[[str, str], None]
) -> None:
    found = _faults(tmp_path, WRITERS)
    (states,) = found.pop("states")
    wrong = {name: faults for name, faults in found.items() if faults}
    words = f"{states} states of {len(WRITERS)} writers, {len(wrong)} writers with one mixed or lost"
    tally("Power loss after any call of any writer", words)
    assert wrong == {}


def test_the_model_catches_each_careless_writer(tmp_path: Path, tally: Callable[[str, str], None]) -> None:
    found = _faults(tmp_path, NAIVE)
    found.pop("states")
    missed = [name for name, faults in found.items() if not faults]
    words = f"{len(NAIVE) - len(missed)} of {len(NAIVE)} caught"
    tally("Power loss: careless writers that the model must catch", words)
    assert missed == []
