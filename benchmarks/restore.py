"""Restore the collections of documents that the engine is measured on, by repository, commit, path and digest.

`python -m benchmarks.restore DIR [--mirrors DIR]` writes DIR/open, DIR/sealed and DIR/training, a folder a collection,
each with `raw/`. The documents are other people's and not part of this project: they come from bare copies under
`--mirrors` (OWNER+NAME/repo, or OWNER+NAME.git), else by `git clone` from GitHub.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import tomllib
from functools import cache
from pathlib import Path

LISTS = Path(__file__).with_name("collections")


@cache
def repository(name: str, mirrors: Path | None, cache: Path) -> Path:
    """Return the folder of a bare copy of a repository. Raises CalledProcessError where git can't get it."""
    flat = name.replace("/", "+")
    if mirrors is not None:
        found = [
            p
            for p in (
                mirrors / flat / "repo",
                mirrors / flat / "repo" / ".git",
                mirrors / f"{flat}.git",
                mirrors / flat,
            )
            if (p / "HEAD").exists()
        ]
        if found:
            return found[0]
    target = cache / f"{flat}.git"
    if not target.exists():
        address = f"https://github.com/{name}.git"
        subprocess.run(["git", "clone", "--quiet", "--bare", "--filter=blob:none", address, str(target)], check=True)
    return target


def restore(listing: Path, target: Path, mirrors: Path | None, cache: Path) -> list[str]:
    """Write the documents of one collection; return a line for each that could not be had as it was."""
    raw = target / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    faults = []
    for document in tomllib.loads(listing.read_text())["document"]:
        file = raw / document["file"]
        if file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == document["sha256"]:
            continue
        try:
            folder = repository(document["repository"], mirrors, cache)
            asked = ["git", f"--git-dir={folder}", "show", f"{document['commit']}:{document['path']}"]
            data = subprocess.run(asked, check=True, capture_output=True).stdout
        except subprocess.CalledProcessError as error:
            faults.append(f"{document['repository']}: {document['path']}: {error}")
            continue
        if hashlib.sha256(data).hexdigest() != document["sha256"]:
            faults.append(f"{document['repository']}: {document['path']}: other bytes than those that were judged")
            continue
        file.write_bytes(data)
    return faults


def main() -> None:
    """Restore every collection and say what could not be had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--mirrors", type=Path)
    args = parser.parse_args()
    cache = args.target / ".repositories"
    for listing in sorted(LISTS.glob("*/*.toml")):
        target = args.target / listing.parent.name / listing.stem
        faults = restore(listing, target, args.mirrors, cache)
        print(f"{listing.parent.name}/{listing.stem}: {len(list((target / 'raw').iterdir()))} documents")
        for fault in faults:
            print(f"  {fault}")


if __name__ == "__main__":
    main()
