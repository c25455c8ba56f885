"""Each rule of the writer, the log and the cleaner is one line that somebody might break: every such change is noticed.

A probe checks the promises on a vault of its own. As the code stands it finds nothing; with one line changed it does.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """`old` in the source of `module` becomes `new`."""

    module: str
    old: str
    new: str


MUTANTS = [
    Mutant(
        "guard",
        "        parts = writable(path, self.scope)\n        if expect is not None and not self.scope.replaces",
        "        parts = tuple(path.split('/'))\n        if expect is not None and not self.scope.replaces",
    ),
    Mutant("guard", "if expect is not None and not self.scope.replaces:", "if False:"),
    Mutant("guard", "if expect is not None and self._only_grows(parts):", "if False:"),
    Mutant("guard", "if found is not None and found.data == data:", "if found is not None:"),
    Mutant(
        "guard", "                write_all(temp.handle, data)\n", "                write_all(temp.handle, data[:-1])\n"
    ),
    Mutant("guard", 'if not (lines.endswith(b"\\n") and', "if not (True and"),
    Mutant(
        "guard",
        "if not (self.scope.replaces or self._made.get(path) == expect) or self._only_grows(parts):",
        "if False:",
    ),
    Mutant(
        "guard",
        "expect_bytes(path, read_at(folder, parts[-1], path), expect)\n            replacing.take_away",
        "replacing.os.unlink(parts[-1], dir_fd=folder); return\n            replacing.take_away",
    ),
    Mutant("guard", "if old or replacing.is_abandoned(folder, entry.name):", "if True:"),
    Mutant("guard", "    if identity_of(os.fstat(handle)) in theirs:", "    if False:"),
    Mutant("guard", "found += [self._identity_forbidden(folder) for folder in self._forbidden]", "pass"),
    Mutant("folder", "_FILE = os.O_RDONLY | _NOFOLLOW", "_FILE = os.O_RDONLY"),
    Mutant("folder", "    if found is not None and found.sha256 != expect:", "    if False:"),
    Mutant(
        "safe_path",
        "    grants = [grant for grant in scope.value if grant.covers(parts)]\n    if not grants:",
        "    grants = [grant for grant in scope.value if grant.covers(parts)]\n    if False:",
    ),
    Mutant("safe_path", "    if _has_hidden_character(name):", "    if False:"),
    Mutant("safe_path", "    if skeleton(name) in _HUMAN_SKELETONS:", "    if False:"),
    Mutant("safe_path", '    if DEVICE.fullmatch(name.split(".", 1)[0].rstrip()):', "    if False:"),
    Mutant("safe_path", 'if unicodedata.normalize("NFC", name) != name:', "if False:"),
    Mutant("durable", '    if size and os.pread(handle, 1, size - 1) != b"\\n":', "    if False:"),
    Mutant(
        "durable",
        "        view = view[os.write(handle, view) :]",
        "        view = view[max(os.write(handle, view[:1]), len(view)) :]",
    ),
    Mutant(
        "replacing",
        "            expect_bytes(path, read_at(folder, temp.name, path), expect)\n        except BaseException:",
        "            pass\n        except BaseException:",
    ),
    Mutant("clean", "[\\x00-\\x08\\x0b-\\x1f", "[\\x00-\\x08\\x0b-\\x1a"),
    Mutant("clean", "\\u202a-\\u202e", "\\u202a-\\u202d"),
    Mutant("clean", "\\x7f-\\x9f", "\\x7f-\\x9a"),
    Mutant("log_event", "zlib.crc32(body)", "(zlib.crc32(body) & 0xffff)"),
]

PROBE = r"""
import fcntl, importlib.util, os, sys
from pathlib import Path
checkout, module, source, base = sys.argv[1:]
sys.path.insert(0, checkout)
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, source) if name == module else None
if module:
    sys.meta_path.insert(0, Finder)
from vault.clean import clean
from vault.errors import EditedMeanwhile, Refused, RetainError
from vault.guard import Guard, Scope, sha256_hex
from vault import replacing
from vault import log_event as vault_log
OLD, NEW = b"old\n", b"new words\n"
count = 0
def vault():
    global count
    count += 1
    root = Path(base) / str(count)
    for name in ("wiki/concepts", "wiki/personal", "insights", "raw", "learning", "outside", ".retain/work"):
        (root / name).mkdir(parents=True)
    (root / "wiki/a.md").write_bytes(OLD)
    (root / "insights/mine.md").write_bytes(OLD)
    (root / "learning/reviews.jsonl").write_bytes(b"torn")
    os.symlink("../insights", root / "wiki/link")
    os.symlink("../insights/mine.md", root / "wiki/alias.md")
    return root
def check(name, good):
    if not good:
        print(name)
def refused(name, call, kind=Refused):
    try:
        call()
    except kind:
        return
    except (RetainError, OSError, Exception) as error:
        print(name, "raised", type(error).__name__)
        return
    print(name)
root = vault()
guard = Guard(root, Scope.PUBLISHER, forbidden=[root / "wiki/personal"])
sha = sha256_hex(OLD)
check("replace", guard.write("wiki/a.md", NEW, expect=sha) and (root / "wiki/a.md").read_bytes() == NEW)
check("same", not guard.write("wiki/a.md", NEW, expect=sha256_hex(NEW)))
refused("stale", lambda: guard.write("wiki/a.md", OLD, expect=sha), EditedMeanwhile)
refused("gone", lambda: guard.write("wiki/none.md", OLD, expect=sha), EditedMeanwhile)
PLACES = "insights/x.md raw/x.md wiki/../insights/x.md wiki/./x.md /tmp/x retain.toml learning/x.md wiki/con.md"
PLACES += " wiki/\u200bx.md wiki/Insights/x.md wiki/\u0456nsights/x.md wiki/a\u0301.md wiki/link/x.md"
PLACES += " wiki/personal/x.md learning/reviews.jsonl"
for path in PLACES.split():
    refused(path, lambda: guard.write(path, NEW, expect=None))
refused("alias", lambda: guard.write("wiki/alias.md", NEW, expect=sha))
refused("read alias", lambda: guard.read("wiki/alias.md"))
guard.append("ledger/ids.jsonl", b"{}\n")
refused("ledger replaced", lambda: guard.write("ledger/ids.jsonl", NEW, expect=sha256_hex(b"{}\n")))
refused("ledger removed", lambda: guard.remove("ledger/ids.jsonl", expect=sha256_hex(b"{}\n")))
refused("half a line", lambda: guard.append("ledger/ids.jsonl", b"{}"))
refused("stale removal", lambda: guard.remove("wiki/a.md", expect=sha), EditedMeanwhile)
adding = Guard(root, Scope.ADD)
(root / "source").write_bytes(NEW)
check("added", adding.copy_in(root / "source", "raw/s.md") == sha256_hex(NEW))
(root / "source").write_bytes(OLD)
refused("added over", lambda: adding.copy_in(root / "source", "raw/s.md"))
refused("add replaces", lambda: adding.write("raw/s.md", OLD, expect=sha256_hex(NEW)))
Guard(root, Scope.LOG).append("learning/reviews.jsonl", b"{}\n")
check("torn line ended", (root / "learning/reviews.jsonl").read_bytes() == b"torn\n{}\n")
with (root / ".retain/work/.retain-tmp-0000000000000000").open("wb") as in_use:
    fcntl.flock(in_use, fcntl.LOCK_EX)
    check("what is in use stays", not guard.sweep())
real = os.write
os.write = lambda handle, data: real(handle, bytes(data)[:3])
check("short writes", guard.write("wiki/b.md", NEW, expect=None) and (root / "wiki/b.md").read_bytes() == NEW)
os.write = real
swap = replacing._exchanged
def edited(folder, temp, name):
    (root / "wiki/b.md").write_bytes(b"the human's\n")
    return swap(folder, temp, name)
replacing._exchanged = edited
refused("edit in the moment", lambda: guard.write("wiki/b.md", OLD, expect=sha256_hex(NEW)), EditedMeanwhile)
check("the edit stands", (root / "wiki/b.md").read_bytes() == b"the human's\n")
check("the human's note", (root / "insights/mine.md").read_bytes() == OLD)
check("the human's folder", len(list((root / "insights").iterdir())) == 1)
shown = clean("".join(map(chr, range(0x20))) + "\x7f\x9b\x9f\u202a\u202e\u2066")
check("clean", not set(shown) - set("\n\t\ufffd"))
check("checksum", vault_log.checksum(b"abc") == b',"crc":"352441c2"}')
"""


def _found(mutant: Mutant | None, base: Path) -> str:
    """What the probe finds with the code as it is, or with one line of it changed."""
    base.mkdir()
    module, source = "", base / "mutant.py"
    if mutant is not None:
        path = ROOT / "vault" / f"{mutant.module}.py"
        text = path.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, (
            f"{mutant.module}: {mutant.old!r} stands there {text.count(mutant.old)} times"
        )
        source.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        module = f"vault.{mutant.module}"
    command = [sys.executable, "-c", PROBE, str(ROOT), module, str(source), str(base / "vaults")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr[-500:]


def test_the_probe_finds_nothing_in_the_code_as_it_stands(tmp_path: Path) -> None:
    assert _found(None, tmp_path / "probe") == ""


def test_every_mutant_is_noticed(
    tmp_path: Path, torture: Callable[[int, int], int], tally: Callable[[str, str], None]
) -> None:
    seed = 4
    chosen = random.Random(seed).sample(MUTANTS, torture(len(MUTANTS), 7))
    survivors = [m for n, m in enumerate(chosen) if not _found(m, tmp_path / str(n))]
    tally("Mutants of writer, log and cleaner", f"{len(chosen) - len(survivors)} of {len(chosen)} noticed")
    assert survivors == [], f"seed {seed}"
