"""Hand-made keys: which concepts a folder of documents explains, which names are none, what it leaves unexplained."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

_KINDS = {
    "concept": ({"name", "files"}, {"aliases", "core", "minor"}),
    "gap": ({"name", "files"}, {"aliases"}),
    "not_concept": ({"name"}, set[str]()),
}
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_TAIL = re.compile(r"(?<=\S)\s*[(（][^()（）]*[)）]\s*$")
_QUOTES = re.compile(r"[\"'`´“”„‘’«»「」『』*.]")
_BETWEEN = re.compile(r"[^\w\s+#]|_")
_ARTICLE = re.compile(r"^(?:the|an?|der|die|das|eine?) (?=\S)")
_ENDINGS = (("isation", "ization"), ("elling", "eling"), ("elled", "eled"), ("our", "or"))  # British to American
_SINGULAR = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))
_IRREGULAR = {
    "analyses": "analysis", "automata": "automaton", "axes": "axis", "corpora": "corpus", "criteria": "criterion",
    "hypotheses": "hypothesis", "indices": "index", "matrices": "matrix", "maxima": "maximum", "minima": "minimum",
    "optima": "optimum", "phenomena": "phenomenon", "vertices": "vertex",
}  # fmt: skip


class KeyProblem(ValueError):
    """A key, or a file of judgements, that does not say what it must; the words name the file and the entry."""


@dataclass(frozen=True, slots=True)
class Concept:
    """`files` are the documents that explain it, by their paths below the folder.

    `core`: central to what the folder is about. `minor`: an article about it is right, its absence no loss.
    """

    name: str
    aliases: tuple[str, ...]
    files: tuple[str, ...]
    core: bool = False
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """What the documents mention or rest on and do not explain."""

    name: str
    aliases: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """`long` are the files that are counted apart, as one of them outweighs all others."""

    concepts: tuple[Concept, ...]
    gaps: tuple[Gap, ...]
    not_concepts: tuple[str, ...]
    long: frozenset[str]

    def concept_index(self) -> dict[str, Concept]:
        """Folded name or alias -> the concept that has it."""
        return {folded(n): c for c in self.concepts for n in (c.name, *c.aliases)}

    def gap_index(self) -> dict[str, Gap]:
        """Folded name or alias -> the gap that has it."""
        return {folded(n): g for g in self.gaps for n in (g.name, *g.aliases)}

    def files(self) -> list[str]:
        """Every file that explains a concept, sorted."""
        return sorted({f for c in self.concepts for f in c.files})


@lru_cache(maxsize=100_000)
def folded(name: str) -> str:
    """The form under which a name of the key and a title meet; "" for a name without letter or digit.

    Case, accents, hyphens, quotes, a leading article, a bracketed tail, the plural of the last word and British
    spelling are folded away. The product has a fold of its own (`compiler.language.names.key`), which is not used here
    on purpose: what is measured must not move the measure.
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(c))
    plain = _TAIL.sub("", plain).replace("ı", "i").replace("&", " and ")
    text = " ".join(_BETWEEN.sub(" ", _QUOTES.sub("", plain)).split())
    if _CJK.search(text):
        return text.replace(" ", "")
    words = [_american(w) for w in _ARTICLE.sub("", text, count=1).split()]
    return " ".join([*words[:-1], _singular(words[-1])]) if words else ""


def _american(word: str) -> str:
    found = next((e for e in _ENDINGS if word.endswith(e[0]) and len(word) > len(e[0]) + 2), None)
    return word.removesuffix(found[0]) + found[1] if found else word


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    found = next((e for e in _SINGULAR if word.endswith(e[0])), ("", ""))
    return word.removesuffix(found[0]) + found[1]


def read_key(path: Path, folder: Path) -> Key:
    """The key in the TOML file at `path`, for the documents in `folder`.

    Raises: KeyProblem for anything else than the entries and fields of a key, for a name that two entries have, and
    for a file that is not in `folder`.
    """
    data = _toml(path)
    strange = sorted(data.keys() - _KINDS.keys() - {"long"})
    if strange:
        raise KeyProblem(f"{path.name}: unknown entry {strange[0]!r}; there are {', '.join([*_KINDS, 'long'])}")
    entries = {kind: [_checked(path, kind, e) for e in _tables(path, kind, data.get(kind, []))] for kind in _KINDS}
    key = Key(
        concepts=tuple(
            Concept(e["name"], _names(e), _files(e), e.get("core", False), e.get("minor", False))
            for e in entries["concept"]
        ),
        gaps=tuple(Gap(e["name"], _names(e), _files(e)) for e in entries["gap"]),
        not_concepts=tuple(e["name"] for e in entries["not_concept"]),
        long=frozenset(_strings(path, "long", "the key", data.get("long", []))),
    )
    _refuse_doubles(path, key)
    _refuse_missing(path, key, folder)
    return key


def only_of(key: Key, folder: Path) -> Key:
    """What of the key the documents in `folder` bear: what others explain, too, counts by these."""

    def there(files: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f for f in files if (folder / f).is_file())

    concepts = (replace(c, files=there(c.files)) for c in key.concepts if there(c.files))
    gaps = (replace(g, files=there(g.files)) for g in key.gaps if there(g.files))
    return replace(key, concepts=tuple(concepts), gaps=tuple(gaps), long=frozenset(there(tuple(sorted(key.long)))))


def read_judged(path: Path) -> dict[str, bool]:
    """Folded title -> whether a human judged that it names a concept. Raises KeyProblem."""
    out: dict[str, bool] = {}
    for name, verdict in _toml(path).items():
        if verdict not in ("concept", "not"):
            raise KeyProblem(f"{path.name}: {name!r} is {verdict!r}; it must be 'concept' or 'not'")
        if folded(name) in out:
            raise KeyProblem(f"{path.name}: {name!r} is judged twice")
        out[folded(name)] = verdict == "concept"
    return out


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KeyProblem(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise KeyProblem(f"{path.name}: not TOML: {error}") from error


def _tables(path: Path, kind: str, found: object) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(e, dict) for e in found):
        raise KeyProblem(f"{path.name}: {kind!r} must be tables, written [[{kind}]]")
    return found


def _checked(path: Path, kind: str, entry: dict[str, Any]) -> dict[str, Any]:
    needed, allowed = _KINDS[kind]
    shown = f"{kind} {entry.get('name', '')!r}"
    for field in sorted(entry.keys() - needed - allowed):
        raise KeyProblem(f"{path.name}: {shown}: unknown field {field!r}")
    for field in sorted(needed - entry.keys()):
        raise KeyProblem(f"{path.name}: {shown}: no {field!r}")
    if not isinstance(entry["name"], str) or not folded(entry["name"]):
        raise KeyProblem(f"{path.name}: {shown}: a name must be words")
    for field in entry.keys() & {"files", "aliases"}:
        if not _strings(path, field, shown, entry[field]) and field == "files":
            raise KeyProblem(f"{path.name}: {shown}: no file explains it")
    for field in entry.keys() & {"core", "minor"}:
        if not isinstance(entry[field], bool):
            raise KeyProblem(f"{path.name}: {shown}: {field!r} must be true or false")
    if entry.get("core") and entry.get("minor"):
        raise KeyProblem(f"{path.name}: {shown}: it cannot be core and minor")
    return entry


def _strings(path: Path, field: str, shown: str, found: object) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(s, str) and folded(s) for s in found):
        raise KeyProblem(f"{path.name}: {shown}: {field!r} must be a list of words")
    return found


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry.get("aliases", ()))


def _files(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(entry["files"])


def _explained(key: Key) -> tuple[Concept | Gap, ...]:
    return *key.concepts, *key.gaps


def _entries(key: Key) -> Iterator[tuple[str, Iterable[str]]]:
    for entry in _explained(key):
        yield entry.name, (entry.name, *entry.aliases)
    for name in key.not_concepts:
        yield name, (name,)


def _refuse_doubles(path: Path, key: Key) -> None:
    owner: dict[str, str] = {}
    for entry, names in _entries(key):
        for name in names:
            if folded(name) in owner:
                raise KeyProblem(f"{path.name}: {name!r} of {entry!r} is already a name of {owner[folded(name)]!r}")
            owner[folded(name)] = entry


def _refuse_missing(path: Path, key: Key, folder: Path) -> None:
    for entry in _explained(key):
        for file in entry.files:
            if not (folder / file).is_file():
                raise KeyProblem(f"{path.name}: {entry.name!r}: {file} is not in {folder}")
    for file in sorted(key.long):
        if not (folder / file).is_file():
            raise KeyProblem(f"{path.name}: long: {file} is not in {folder}")
