"""Pictures from `raw/` to `wiki/assets/`: found, checked in the reading process, copied once."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from compiler.articles.figures import ShownWith, shown_with, words_for
from compiler.claims.extract import Gathered
from compiler.index.steps import Steps, decoded, digest_of, encoded
from compiler.sources.inventory import Tracked
from compiler.sources.missing_pictures import HINT, not_in_raw
from compiler.workers.pool import WorkerPool
from vault.diagnostic import Diagnostic
from vault.errors import WorkerFailed
from vault.files.folder import sha256_hex
from vault.files.guard import Guard
from vault.ids import SourceId
from vault.model.exhibit import ASSETS, Exhibit, is_nameable, picture
from vault.model.source import Picture
from vault.text.formatting import clean_line
from vault.vault import Vault

STEP = "picture"
EMBEDDED = "embedded:"
RULES = 2  # of `compiler.readers.images`: with a new number every picture is checked again
_REMOTE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_TRIED = ("", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp")  # LaTeX leaves the suffix out
_SUFFIXES = frozenset({"png", "jpg", "gif", "webp", "svg"})
Key = tuple[SourceId, str]  # (the file, "" or what is embedded in it)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the reading process says of a picture: suffix and digest of its bytes, or why it is not to be copied."""

    suffix: str = ""
    sha256: str = ""
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of one build: the sources, their claims with what the documents show; what to copy; what is known.

    `assets` maps vault paths to bytes, None for a copy that is there already; `shown_in` a picture in `raw/` to the
    sources that show it, with their words for it.
    """

    gathered: list[Gathered]
    assets: Mapping[str, bytes | None]
    shown_in: Mapping[SourceId, Sequence[tuple[SourceId, str]]]
    notices: list[Diagnostic]
    failures: list[Diagnostic]


def place_pictures(
    vault: Vault, guard: Guard, crew: WorkerPool, gathered: Sequence[Gathered], steps: Steps
) -> Pictures:
    """Return the pictures of a build; those not known yet are judged in the reading process."""
    gallery = _Gallery(vault, guard, crew, gathered, steps)
    placed = gallery.place()
    return Pictures(placed, gallery.assets, gallery.shown_in, gallery.notices, gallery.failures)


@dataclass(slots=True)
class _Gallery:
    """Finds, judges and places pictures."""

    vault: Vault
    guard: Guard
    crew: WorkerPool
    gathered: Sequence[Gathered]
    steps: Steps
    assets: dict[str, bytes | None] = field(default_factory=dict)
    shown_in: dict[SourceId, list[tuple[SourceId, str]]] = field(default_factory=dict)
    notices: list[Diagnostic] = field(default_factory=list)
    failures: list[Diagnostic] = field(default_factory=list)
    _bytes: dict[str, bytes] = field(default_factory=dict)  # by digest
    _present: dict[str, str] = field(default_factory=dict)

    def place(self) -> list[Gathered]:
        """Return the sources, their claims with what the documents show with them."""
        raw = _Raw(self.gathered)
        self._record(raw)
        ties = {
            g.tracked.id: shown_with(g.source, [(c.id, g.starts[c.id], c.quote) for c, _ in g.claims])
            for g in self.gathered
            if g.source is not None
        }
        wanted: dict[tuple[SourceId, str], Key] = {}
        for g in self.gathered:
            for each in ties.get(g.tracked.id, {}).values():
                for shown in each.pictures:
                    key = raw.find(g, shown.target)
                    if key is not None:
                        wanted[g.tracked.id, shown.target] = key
        verdicts = self._verdicts(sorted(set(wanted.values())), raw)
        paths = self._paths(verdicts, raw)
        return [self._with_exhibits(g, ties.get(g.tracked.id, {}), wanted, verdicts, paths) for g in self.gathered]

    def _record(self, raw: _Raw) -> None:
        """Note which documents show a picture of `raw/`, and what they call it: for an engine that sees."""
        for g in self.gathered:
            for shown in g.source.pictures if g.source is not None else ():
                key = raw.find(g, shown.target)
                if key is not None and not key[1]:
                    shown_entries = self.shown_in.setdefault(key[0], [])
                    entry = (g.tracked.id, words_for(shown))
                    if entry not in shown_entries:
                        shown_entries.append(entry)

    # --- judging ----------------------------------------------------------------------------------------------------

    def _verdicts(self, keys: Sequence[Key], raw: _Raw) -> dict[Key, Verdict]:
        """Return the verdicts on pictures; those not cached come from the reading process."""
        out: dict[Key, Verdict] = {}
        missing: list[Key] = []
        for key in keys:
            verdict = self._cached_verdict(key, raw)
            if verdict is None:
                missing.append(key)
            else:
                out[key] = verdict
        messages = [
            {"op": "picture", "path": str(self.vault.root / file.path), "sha256": file.sha256, "target": target}
            for file, target in ((raw.tracked[id_], target) for id_, target in missing)
        ]
        for n, reply in self.crew.ask_all(messages):
            verdict = self._verdict(raw.tracked[missing[n][0]], reply)
            if verdict is not None:
                out[missing[n]] = verdict
                known = encoded([verdict.suffix, verdict.sha256, verdict.refused])
                self.steps.put(STEP, _key_of(missing[n], raw), known)
        return out

    def _cached_verdict(self, key: Key, raw: _Raw) -> Verdict | None:
        """Return the cached verdict, if a copy of the picture is still in the wiki or none is wanted."""
        known = decoded(self.steps.get(STEP, _key_of(key, raw)))
        verdict = None if known is None else Verdict(*known)
        return verdict if verdict and (verdict.refused or self._copies.get(verdict.sha256)) else None

    @property
    def _copies(self) -> dict[str, str]:
        """Return digest -> path of the pictures among the assets."""
        if not self._present:
            found = {path: self.guard.read(path) for path in self.vault.paths(ASSETS, "")}
            self._present = {sha256_hex(data): path for path, data in found.items() if data is not None} | {"": ""}
        return self._present

    def _verdict(self, file: Tracked, reply: dict[str, Any] | WorkerFailed) -> Verdict | None:
        """Return what the reading process said; None if it could not say anything this time."""
        if isinstance(reply, WorkerFailed) or "not_now" in reply:
            what = reply.what if isinstance(reply, WorkerFailed) else clean_line(str(reply["not_now"]))
            self.failures.append(Diagnostic(file.path, 0, "picture-not-now", what, "run the command again"))
            return None
        found = reply.get("picture")
        try:
            data = base64.b64decode(found["base64"], validate=True) if found else b""
        except (binascii.Error, KeyError, TypeError, ValueError):
            found = None
        if not found or found.get("kind") not in _SUFFIXES:
            reason = reply.get("unreadable", {}).get("what", "the picture cannot be read")
            return Verdict(refused=clean_line(str(reason))[:200])
        digest = sha256_hex(data)
        self._bytes[digest] = data
        return Verdict(str(found["kind"]), digest)

    # --- hanging ----------------------------------------------------------------------------------------------------

    def _paths(self, verdicts: Mapping[Key, Verdict], raw: _Raw) -> dict[str, str]:
        """Return for each digest the one path in the vault, named after the source that came first with the picture."""
        names: dict[str, tuple[tuple[str, str], str]] = {}
        for (id_, _), verdict in verdicts.items():
            if verdict.sha256:
                tracked = raw.tracked[id_]
                name = f"{ASSETS}/{tracked.slug}-{verdict.sha256[:12]}.{verdict.suffix}"
                names[verdict.sha256] = min(names.get(verdict.sha256, (tracked.birth, name)), (tracked.birth, name))
        paths = {digest: name for digest, (_, name) in names.items()}
        for digest, path in paths.items():
            self.assets[path] = self._bytes.get(digest) or self._bytes_of_copy(digest, path)
        return paths

    def _bytes_of_copy(self, digest: str, path: str) -> bytes | None:
        """Return the bytes from a copy under another name; None if `path` holds them already."""
        lies = self._copies.get(digest, "")
        return None if lies == path or not lies else self.guard.read(lies)

    def _with_exhibits(
        self,
        g: Gathered,
        ties: Mapping[str, ShownWith],
        wanted: Mapping[tuple[SourceId, str], Key],
        verdicts: Mapping[Key, Verdict],
        paths: Mapping[str, str],
    ) -> Gathered:
        """Return a source, its claims with the pictures, code and formulas that go with them."""
        if not ties:
            return g
        listed: set[str] = set()
        missing: list[str] = []

        def exhibit(shown: Picture) -> Exhibit | None:
            key = wanted.get((g.tracked.id, shown.target))
            verdict = verdicts.get(key) if key else None
            if verdict and verdict.sha256:
                return picture(paths[verdict.sha256], words_for(shown))
            if shown.target not in listed and not _REMOTE.match(shown.target):
                listed.add(shown.target)
                target = clean_line(shown.target)[:200]
                if verdict is None:
                    missing.append(target)
                else:
                    what = f"a picture cited by a claim was not copied: {target}: {verdict.refused}"
                    self.notices.append(Diagnostic(g.tracked.path, 0, "picture", what))
            named = shown.target.removeprefix(EMBEDDED)
            return picture(named, words_for(shown)) if is_nameable(named) else None

        claims = []
        for claim, about in g.claims:
            tie = ties.get(claim.id, ShownWith())
            shown = [e for p in tie.pictures if (e := exhibit(p)) is not None]
            claims.append((replace(claim, exhibits=(*dict.fromkeys(shown), *tie.exhibits)), about))
        if missing:
            self.notices.append(Diagnostic(g.tracked.path, 0, "picture", not_in_raw(missing), HINT))
        return replace(g, claims=tuple(claims))


def _key_of(key: Key, raw: _Raw) -> bytes:
    """Return the digest of all that the verdict on a picture depends on."""
    return digest_of(str(RULES), raw.tracked[key[0]].content, key[1])


class _Raw:
    """The files that are sources by path and by name, among which a document's pictures may be."""

    def __init__(self, gathered: Sequence[Gathered]) -> None:
        self.tracked = {g.tracked.id: g.tracked for g in gathered}
        images = [g.tracked for g in gathered if g.recorded == "image"]
        self._at = {_nfc(path): file.id for file in images for path in file.paths}
        self._folded = {path.casefold(): path for path in sorted(self._at, reverse=True)}
        self._named: dict[str, list[str]] = {}  # name -> paths, the shortest first
        for path in sorted(self._at, key=lambda path: (len(path), path)):
            self._named.setdefault(path.rsplit("/", 1)[-1].casefold(), []).append(path)

    def find(self, document: Gathered, target: str) -> Key | None:
        """Return where the picture is that `document` shows; None for one that is no source.

        That is inside the document, beside it, or anywhere in `raw/` under a name that only one picture has. From a
        note in place, it is found as Obsidian finds it.
        """
        if target.startswith(EMBEDDED):
            return document.tracked.id, target
        if _REMOTE.match(target) or _OTHER_SCHEME.match(target) or "\\" in target:
            return None
        name = _nfc(unquote(re.split(r"[?#]", target, maxsplit=1)[0])).strip()
        if not document.tracked.path.startswith("raw/"):
            path = self._as_in_obsidian(_nfc(document.tracked.path), name)
            return (self._at[path], "") if path else None
        for base in (posixpath.dirname(_nfc(document.tracked.path)), "raw", ""):
            path = posixpath.normpath(posixpath.join(base, name.lstrip("/")))
            for suffix in _TRIED:
                if path + suffix in self._at:
                    return self._at[path + suffix], ""
        alike = {self._at[path] for path in self._named.get(posixpath.basename(name).casefold(), [])}
        return (alike.pop(), "") if len(alike) == 1 else None

    def _as_in_obsidian(self, note: str, name: str) -> str:
        """Return the path of the picture `name` in a note; "" if there is none.

        It is beside the note, or below the folder of all notes; by the end of its path it is anywhere, the shortest
        path first. Small and capital letters are the same; what begins with `./`, `../` or `/` is in one place only.
        """
        folder, top = posixpath.dirname(note), ".." if note.startswith("../") else ""
        if name.startswith("/"):
            tried = [posixpath.join(top, name.lstrip("/"))]
        else:
            tried = [posixpath.join(folder, name), posixpath.join(top, name)][: 1 if name.startswith(".") else 2]
        for path in (posixpath.normpath(each).casefold() for each in tried):
            if path in self._folded:
                return self._folded[path]
        alike = self._named.get(posixpath.basename(name).casefold(), []) if name[:1] not in (".", "/") else []
        end = f"/{name.casefold()}"
        return next((path for path in alike if f"/{path.casefold()}".endswith(end)), "")


def _nfc(path: str) -> str:
    """Return a path in Unicode's composed form: file systems differ."""
    return unicodedata.normalize("NFC", path)
