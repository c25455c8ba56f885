"""What opens files for writing while retain works: the interpreter reports it, and only the writer may be named.

The lint rules (TID251 in pyproject.toml) see names in our code; this sees methods of paths and the libraries too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The writer and its parts.
WRITER = tuple(f"vault/files/{name}.py" for name in ("guard", "replace", "temporary", "exports"))
DOCUMENTS = {
    "tides.md": "# Tides\n\nA tide is the regular rise and fall of the sea that the Moon and the Sun cause.\n",
    "swell.html": "<article><h1>Swell</h1><p>A swell is a train of waves that comes from a distant wind.</p></article>",
    "drift.txt": "Currents\n\nA drift is a slow current of the surface that the wind causes.\n",
}

# Runs a whole loop in one process under an audit hook. Prints [event, what, who]: who is the nearest of our own files.
_WATCHED_LOOP = """
import io, json, os, sys
from contextlib import redirect_stdout
root, vault, sources = sys.argv[1:4]
PACKAGES = tuple(os.path.join(root, p) + os.sep for p in ("cli", "compiler", "learning", "templates", "tui", "vault"))
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod",
           "os.chown", "os.utime", "os.setxattr", "shutil.rmtree", "shutil.move", "shutil.copyfile", "sqlite3.connect"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
seen = []

def nearest():
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGES):
            return os.path.relpath(frame.f_code.co_filename, root)
        frame = frame.f_back
    return ""

def watch(event, args):
    if args and isinstance(args[0], int):
        return  # by a handle, which somebody opened: that was seen
    if event == "open":
        if isinstance(args[2], int) and args[2] & WRITING and args[0] not in ("/dev/null", "/dev/tty"):
            seen.append([event, str(args[0]), nearest()])
    elif event in CHANGES:
        seen.append([event, str(args[0]), nearest()])

sys.addaudithook(watch)
from cli.main import run
from compiler.readers.read import read_source

def retain(*words):
    out = io.StringIO()
    with redirect_stdout(out):
        code = run(list(words))
    assert code == 0, (words, code, out.getvalue())
    return out.getvalue()

retain("init", vault, "--no-git")
os.chdir(vault)
names = sorted(os.listdir(sources))
retain("add", *(os.path.join(sources, n) for n in names))
for name in names:  # what the reading process does, here where it is watched
    with open(os.path.join(sources, name), "rb") as file:
        read_source(file.read(), name)
retain("compile")
card = json.loads(retain("due", "--json"))["new"][0]["id"]
retain("rate", card, "good")
retain("undo")
retain("gaps")
retain("verify")
retain("export", "anki", "deck.apkg")
retain("rebuild")
rogue = compile("open(path, 'w').close()", os.path.join(root, "cli", "rogue.py"), "exec")
exec(rogue, {"path": os.path.join(vault, "output", "rogue")})
print(json.dumps(seen))
"""


def test_only_the_guard_writes_while_the_whole_loop_runs(tmp_path: Path, own_home: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, text in DOCUMENTS.items():
        (sources / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-B", "-c", _WATCHED_LOOP, str(ROOT), str(tmp_path / "vault"), str(sources)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *seen, rogue = json.loads(done.stdout.splitlines()[-1])
    assert rogue == ["open", str(tmp_path / "vault/output/rogue"), "cli/rogue.py"], "a write by another is noticed"
    copies = (own_home / ".local/state/retain").as_uri()
    others = [
        (event, what, who)
        for event, what, who in seen
        if who not in WRITER
        # An archive written to the temporary path that the guard gave; a database in memory.
        and not (who == "learning/anki/export_package.py" and (".retain-tmp-" in what or what == ":memory:"))
        # SQLite opens the copies of the human's files itself, in the file that the guard made outside every vault.
        and not (who == "vault/audit/database.py" and what.startswith(copies))
        # And the index, which can be made again, in the folder that it checks for links.
        and not (who == "vault/index/database.py" and "/.retain/" in what and ".sqlite3" in what)
        and not (who == "vault/index/database.py" and what == ":memory:")
    ]
    assert not others
    assert len([who for _, _, who in seen if who in WRITER]) > 50
