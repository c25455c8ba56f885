"""The programs that an agent calls: what a list of forbidden tools would have to know."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.sandbox.attacks.registry import FORGED, Place, attack


def run(*command: str, given: bytes = b"", cwd: str | None = None, env: dict[str, str] | None = None) -> bytes:
    """What a program prints. Raises OSError with its complaint if it fails."""
    done = subprocess.run(command, input=given, capture_output=True, cwd=cwd, env=env, timeout=600, check=False)
    if done.returncode:
        raise OSError(f"{command[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _mine(place: Place) -> str:
    path = Path(place.work, "mine.md")
    path.write_bytes(FORGED)
    return str(path)


@attack(needs="bash")
def bash(place: Place) -> None:
    """bash -c 'echo > insights/...'"""
    run("bash", "-c", f"echo forged > '{place.note}'")


@attack(needs="bash")
def bash_inherited(place: Place) -> None:
    """A shell's open descriptor, handed to a grandchild"""
    run("bash", "-c", f"exec 7<>'{place.note}'; sh -c 'echo forged >&7'")


@attack(needs="sed")
def sed(place: Place) -> None:
    """sed -i on an insight"""
    run("sed", "-i", "s/a/b/g", place.note)


@attack(needs="tee")
def tee(place: Place) -> None:
    """tee into an insight"""
    run("tee", place.note, given=FORGED)


@attack(needs="dd")
def dd(place: Place) -> None:
    """dd over an insight"""
    run("dd", f"of={place.note}", "conv=notrunc", given=FORGED)


@attack(needs="cp")
def cp(place: Place) -> None:
    """cp over an insight"""
    run("cp", "--force", _mine(place), place.note)


@attack(needs="mv")
def mv(place: Place) -> None:
    """mv over an insight"""
    run("mv", "-f", _mine(place), place.note)


@attack(needs="install")
def install(place: Place) -> None:
    """install into insights/"""
    run("install", "-m", "600", _mine(place), place.note)


@attack(needs="tar")
def tar(place: Place) -> None:
    """Unpack an archive whose names climb out (tar -P)"""
    archive = f"{place.work}/x.tar"
    name = os.path.relpath(place.note, place.work)
    run("tar", "-cPf", archive, f"--transform=s|.*|{name}|", _mine(place))
    run("tar", "-xPf", archive, cwd=place.work)


@attack(needs="rsync")
def rsync(place: Place) -> None:
    """rsync --delete an empty folder over insights/"""
    os.mkdir(f"{place.work}/empty")
    run("rsync", "-a", "--delete", f"{place.work}/empty/", f"{place.insights}/")


@attack(needs="rm")
def rm(place: Place) -> None:
    """rm -rf insights/"""
    run("rm", "-rf", place.insights)


@attack(needs="perl")
def perl(place: Place) -> None:
    """perl -pi -e on an insight"""
    run("perl", "-pi", "-e", "s/a/b/g", place.note)


@attack(needs="python3")
def python(place: Place) -> None:
    """python -c one-liner"""
    run(place.python, "-I", "-c", f"open({place.note!r}, 'w').write('forged')")


@attack(needs="node")
def node(place: Place) -> None:
    """node -e one-liner"""
    run("node", "-e", f"require('fs').appendFileSync({place.note!r}, 'forged')")


@attack(needs="find")
def find(place: Place) -> None:
    """find -delete"""
    run("find", place.insights, "-name", "*.md", "-delete")


@attack(needs="awk")
def awk(place: Place) -> None:
    """awk prints into an insight"""
    run("awk", f'BEGIN {{ print "forged" > "{place.note}" }}')


@attack()
def set_user_id(place: Place) -> None:
    """A set-user-ID program that was there before writes the insight"""
    run(f"{place.tools}/set-user-id-tee", "-a", place.note, given=FORGED)


@attack(needs="sh")
def at_exit(place: Place) -> None:
    """A detached child of a child writes after its parent has gone"""
    done, into = os.pipe()
    script = f"( sleep 0.01; echo forged > '{place.note}'; echo over >&{into} ) & exit 0"
    subprocess.run(["sh", "-c", script], pass_fds=[into], stderr=subprocess.DEVNULL, check=False, timeout=600)
    os.close(into)
    os.read(done, 10)
