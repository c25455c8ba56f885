"""Faults to plant in a compiled vault, for `benchmarks.lint_battery`: as a human, an editor or a bad merge makes them.

Each planter edits files and returns the paths of which one must be named by the finding; None where the vault has
nothing to plant it in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault.model.article import CitedSentence, sentences
from vault.model.card import parse_deck
from vault.model.frontmatter import read_properties

Paths = set[str] | None
_LINK = re.compile(r"\[\[(wiki/concepts/[^|\]#]+)\|([^\]]+)\]\]")
_CITE = re.compile(r" ?\[\[wiki/summaries/[^\]]*#\^c-\w{10}\|\d+\]\]")
_DENIED = {"is": "is not", "are": "are not", "can": "cannot", "has": "has no", "was": "was not", "will": "will not"}


@dataclass
class Scene:
    """A vault in which faults are planted, one at a time: `restore` takes the last one back."""

    root: Path
    rng: random.Random
    _before: dict[str, bytes | None] = field(default_factory=dict)

    def paths(self, folder: str, suffix: str = ".md") -> list[str]:
        found = [p.relative_to(self.root).as_posix() for p in (self.root / folder).rglob(f"*{suffix}") if p.is_file()]
        self.rng.shuffle(found := sorted(found))
        return found

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def title(self, path: str) -> str:
        return read_properties(self.text(path)).text("title")

    def write(self, path: str, data: str | bytes | None) -> None:
        """Write a file, or delete it (None)."""
        file = self.root / path
        self._before.setdefault(path, file.read_bytes() if file.is_file() else None)
        if data is None:
            file.unlink()
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)

    def append(self, path: str, words: str) -> set[str]:
        self.write(path, f"{self.text(path).rstrip()}\n\n{words}\n")
        return {path}

    def restore(self) -> None:
        for path, data in self._before.items():
            if data is None:
                (self.root / path).unlink(missing_ok=True)
            else:
                (self.root / path).write_bytes(data)
        self._before.clear()

    def sentences(self) -> Iterator[tuple[str, CitedSentence]]:
        """Yield the cited sentences of articles that stand on one line."""
        for path in self.paths("wiki/concepts"):
            for sentence in sentences(self.text(path)):
                if sentence.cites and sentence.text in self.text(path):
                    yield path, sentence


def _note(scene: Scene, words: str, name: str = "mine") -> set[str]:
    path = f"insights/{name}.md"
    scene.write(path, f"# {name}\n\n{words}\n")
    return {path}


def _property(scene: Scene, path: str, key: str, value: str) -> set[str]:
    text = scene.text(path)
    changed = re.sub(rf"^{key}: .*$", f"{key}: {value}", text, count=1, flags=re.MULTILINE)
    scene.write(path, changed if f"\n{key}: " in text else text.replace("---\n", f"---\n{key}: {value}\n", 1))
    return {path}


# --- links ------------------------------------------------------------------------------------------------------------


def link_in_note(scene: Scene) -> Paths:
    return _note(scene, "See [[wiki/concepts/no-such-page|this]].")


def link_in_article(scene: Scene) -> Paths:
    return scene.append(scene.paths("wiki/concepts")[0], "See [[wiki/concepts/no-such-page|this]].")


def link_mistyped(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        if link := _LINK.search(scene.text(path)):
            scene.write(path, scene.text(path).replace(link[1] + "|", link[1][:-1] + "|"))
            return {path}
    return None


def page_deleted(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        for other in scene.paths("wiki/concepts"):
            if other != path and f"[[{path[:-3]}|" in scene.text(other):
                scene.write(path, None)
                return {other}
    return None


def heading_gone(scene: Scene) -> Paths:
    return _note(scene, f"See [[{scene.paths('wiki/concepts')[0][:-3]}#No such heading]].")


def claim_mistyped(scene: Scene) -> Paths:
    path, sentence = next(scene.sentences())
    claim = str(sentence.cites[0].claim)
    scene.write(path, scene.text(path).replace(claim, claim[::-1], 1))
    return {path}


def bare_name_gone(scene: Scene) -> Paths:
    return scene.append(scene.paths("wiki/concepts")[0], "See [[No such page at all]].")


def file_link_in_note(scene: Scene) -> Paths:
    return _note(scene, "See [this](../wiki/concepts/no-such-page.md).")


def same_name_twice(scene: Scene) -> Paths:
    _note(scene, "One.", "a/harbour")
    _note(scene, "Another.", "b/harbour")
    return _note(scene, "See [[harbour]].")


def note_named_like_article(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    name = path.rpartition("/")[2][:-3]
    _note(scene, "My thoughts.", name)
    return _note(scene, f"See [[{name}]].", "other")


def links_to_page_removed(scene: Scene) -> Paths:
    everywhere = [*scene.paths("wiki/concepts"), *scene.paths("wiki/topics")]
    linked = (
        p for p in scene.paths("wiki/concepts") if any(p != o and f"[[{p[:-3]}|" in scene.text(o) for o in everywhere)
    )
    path = next(linked, "")
    if not path:
        return None
    for other in (*scene.paths("wiki/concepts"), *scene.paths("wiki/topics"), *scene.paths("insights")):
        text = scene.text(other)
        changed = re.sub(rf"\[\[{re.escape(path[:-3])}\|([^\]]+)\]\]", r"\1", text)
        if other != path and changed != text:
            scene.write(other, changed)
    return {path}


def page_of_my_own(scene: Scene) -> Paths:
    scene.write(
        "wiki/concepts/zz-lonely-page.md", "---\ntype: concept\ntitle: Zz lonely page\n---\n\n# Zz lonely page\n"
    )
    return {"wiki/concepts/zz-lonely-page.md"}


def line_of_index_lost(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    for index in ("wiki/_index.md", "wiki/_concepts.md", "wiki/_graph.md"):
        lines = scene.text(index).split("\n")
        scene.write(index, "\n".join(line for line in lines if f"[[{path[:-3]}|" not in line))
    return {path}


def line_of_catalogue_lost(scene: Scene) -> Paths:
    path = scene.paths("wiki/summaries")[0]
    lines = scene.text("wiki/_index.md").split("\n")
    scene.write("wiki/_index.md", "\n".join(line for line in lines if f"[[{path[:-3]}|" not in line))
    return {path}


def catalogue_deleted(scene: Scene) -> Paths:
    scene.write("wiki/_index.md", None)
    return {"wiki/_index.md"}


def answer_of_my_own(scene: Scene) -> Paths:
    path = "wiki/answers/zz-mine.md"
    scene.write(path, "---\ntype: synthesis\ntitle: Why?\nquestion: Why?\n---\n\n# Why?\n")
    return {path}


def name_without_link(scene: Scene) -> Paths:
    """The page names an article that links to nothing here."""
    for path in scene.paths("wiki/concepts"):
        for other in scene.paths("wiki/concepts"):
            title = scene.title(other)
            linked = other[:-3] in scene.text(path) or path[:-3] in scene.text(other)
            if other != path and " " in title and not linked and title.lower() not in scene.text(path).lower():
                return scene.append(path, f"This has much to do with {title.lower()} as it is used.")
    return None


def name_of_one_that_links_here(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        for other in scene.paths("wiki/concepts"):
            title = scene.title(other)
            if other != path and " " in title and other[:-3] not in scene.text(path) and path[:-3] in scene.text(other):
                return scene.append(path, f"This has much to do with {title} as it is used.")
    return None


def notes_name_the_same(scene: Scene) -> Paths:
    return _note(scene, "See [[Grand unified idea]].", "one") | _note(scene, "And [[Grand unified idea]].", "two")


# --- pages ------------------------------------------------------------------------------------------------------------


def _twin(scene: Scene, change: Callable[[str], str]) -> Paths:
    for path in scene.paths("wiki/concepts"):
        title = scene.title(path)
        if len(title) >= 8 and change(title) != title:
            text = re.sub(r"^ *id: .*\n", "", scene.text(path).replace(title, change(title)), flags=re.MULTILINE)
            twin = f"{path[:-3]}-copy.md"
            scene.write(twin, text)
            return {path, twin}
    return None


def title_in_plural(scene: Scene) -> Paths:
    return _twin(scene, lambda title: title if title.endswith("s") else f"{title}s")


def title_with_hyphen(scene: Scene) -> Paths:
    return _twin(scene, lambda title: title.replace(" ", "-"))


def title_mistyped(scene: Scene) -> Paths:
    return _twin(scene, lambda title: title[:-2] + title[-1] + title[-2] if len(title) > 18 else title)


def doubt_of_a_compile(scene: Scene) -> Paths:
    event = (
        '{"v":1,"type":"birth","of":"doubt","id":"zzzzzzzzzz","at":"2026-11-01T00:00:00.000Z","key":"alpha|beta",'
        '"names":["alpha","beta"],"titles":["Alpha","Beta"]}\n'
    )
    scene.write("ledger/ids.jsonl", scene.text("ledger/ids.jsonl") + event)
    return {"ledger/ids.jsonl"}


def definition_cut(scene: Scene) -> Paths:
    kinds = {}
    for path in scene.paths("wiki/summaries"):
        lines = scene.text(path).split("\n")
        for n, line in enumerate(lines):
            if found := re.fullmatch(r"\^c-(\w{10})", line):
                kinds[found[1]] = next((x for x in reversed(lines[:n]) if " · " in x), "")
    for path in scene.paths("wiki/concepts"):
        said = [s for s in sentences(scene.text(path)) if s.cites]
        plain = [s for s in said if not any("definition" in kinds.get(str(c.claim), "definition") for c in s.cites)]
        if plain and plain[0] is not said[0]:
            head = scene.text(path).split("\n# ", 1)[0]
            words = "\n\n".join(f"{s.text} {' '.join(map(str, s.cites))}" for s in plain)
            scene.write(path, f"{head}\n# {scene.title(path)}\n\n{words}\n")
            return {path}
    return None


def gap_of_another_clone(scene: Scene) -> Paths:
    links = ", ".join(f"[[{p[:-3]}|{scene.title(p)}]]" for p in scene.paths("wiki/summaries")[:3])
    gap = (
        f"- [ ] **Flux capacitor**: used in 3 sources, and no sentence says what it is. Mentioned in {links}. "
        "Would fill it: a definition of it, or a source that introduces it. ^g-zzzzzzzzzz"
    )
    text = scene.text("learning/gaps.md")
    head = "## Structural\n"
    text = text if head in text else f"{text.rstrip()}\n\n{head}"
    scene.write("learning/gaps.md", text.replace(head, f"{head}\n{gap}\n", 1))
    return {"learning/gaps.md"}


def pages_without_topic(scene: Scene) -> Paths:
    names = ["zz-keel", "zz-mast", "zz-rudder", "zz-sail"]
    for name in names:
        links = " ".join(f"[[wiki/concepts/{other}|{other}]]" for other in names if other != name)
        text = f"---\ntype: concept\ntitle: {name.title()}\n---\n\n# {name.title()}\n\n> [!human] See {links}.\n"
        scene.write(f"wiki/concepts/{name}.md", text)
    return {f"wiki/concepts/{name}.md" for name in names}


def cut_to_one_statement(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        others = [p for p in scene.paths("wiki/concepts") if p != path and f"[[{path[:-3]}|" in scene.text(p)]
        said = [s for s in sentences(scene.text(path)) if s.cites]
        if others and len(said) > 1:
            head = scene.text(path).split("\n# ", 1)[0]
            words = f"{said[0].text} {' '.join(map(str, said[0].cites))}"
            scene.write(path, f"{head}\n# {scene.title(path)}\n\n{words}\n")
            return {path}
    return None


def emptied(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        if any(p != path and f"[[{path[:-3]}|" in scene.text(p) for p in scene.paths("wiki/concepts")):
            scene.write(path, scene.text(path).split("\n# ", 1)[0] + f"\n# {scene.title(path)}\n")
            return {path}
    return None


def updated_long_ago(scene: Scene) -> Paths:
    return _property(scene, scene.paths("wiki/concepts")[0], "updated", '"2024-02-29"')


def fast_and_old(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    _property(scene, path, "freshness", "fast")
    return _property(scene, path, "updated", '"2026-10-20"')


def held_back(scene: Scene) -> Paths:
    return _property(scene, scene.paths("wiki/concepts")[0], "status", "quarantined")


def moved_away(scene: Scene) -> Paths:
    scene.write("output/quarantine/run-1/report.md", "# Report\n\nA script.\n")
    scene.write("output/quarantine/run-1/wiki/x.js.md", "```\nalert(1)\n```\n")
    return {"output/quarantine/run-1/wiki/x.js.md"}


def trusted_too_much(scene: Scene) -> Paths:
    for path in scene.paths("wiki/concepts"):
        if "confidence: low" in scene.text(path):
            return _property(scene, path, "confidence", scene.rng.choice(["high", "medium"]))
    return None


def merge_in_article(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    both = "<<<<<<< HEAD\nOne thing.\n=======\nAnother thing.\n>>>>>>> other\n"
    scene.write(path, scene.text(path).rstrip() + f"\n\n{both}")
    return {path}


def merge_in_note(scene: Scene) -> Paths:
    return _note(scene, "<<<<<<< HEAD\nOne thing.\n=======\nAnother thing.\n>>>>>>> other")


def version_beside(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    beside = f"{path[:-3]}.conflict-2026-11-20.md"
    scene.write(beside, scene.text(path))
    return {beside}


def _synced(scene: Scene, folder: str, mark: str) -> Paths:
    """A program that syncs files keeps the version of another machine."""
    path = next((p for p in scene.paths(folder) if "conflict" not in p), None)
    if path is None:
        return None
    copy = f"{path[:-3]}{mark}.md"
    scene.write(copy, scene.text(path))
    return {copy}


def page_synced(scene: Scene) -> Paths:
    return _synced(scene, "wiki/concepts", ".sync-conflict-20260101-120000-ABCDEFG")


def deck_synced(scene: Scene) -> Paths:
    return _synced(scene, "learning/flashcards", " (Anna's conflicted copy 2026-01-01)")


def source_synced(scene: Scene) -> Paths:
    return _synced(scene, "raw", " (conflicted copy 2026-01-01)")


def note_synced(scene: Scene) -> Paths:
    _note(scene, "One thing.")
    return _synced(scene, "insights", ".sync-conflict-20260101-120000-ABCDEFG")


def merge_in_deck(scene: Scene) -> Paths:
    path, block = _block(scene)
    both = f"<<<<<<< HEAD\n{block}\n=======\n{block}, indeed\n>>>>>>> other"
    scene.write(path, scene.text(path).replace(block, both, 1))
    return {path}


def merge_in_source(scene: Scene) -> Paths:
    path = next(iter(scene.paths("raw")), None)
    return (
        None if path is None else scene.append(path, "<<<<<<< HEAD\nOne thing.\n=======\nAnother thing.\n>>>>>>> other")
    )


def merge_half_cleaned(scene: Scene) -> Paths:
    return scene.append(scene.paths("wiki/concepts")[0], "<<<<<<< HEAD\nOne thing.\n=======\nAnother thing.")


def not_text(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    scene.write(path, scene.text(path).encode("utf-16"))
    return {path}


# --- claims -----------------------------------------------------------------------------------------------------------


def my_own_sentence(scene: Scene) -> Paths:
    return scene.append(scene.paths("wiki/concepts")[0], "I am sure that this holds in every case.")


def citation_deleted(scene: Scene) -> Paths:
    """The last citation of a line; of an earlier one the words then seem to rest on the next (see `unsupported`)."""
    cited = ((p, s) for p, s in scene.sentences() if f"{s.cites[-1]}\n" in scene.text(p))
    path, sentence = next(cited)
    scene.write(path, re.sub(rf"({re.escape(sentence.text)})(?:{_CITE.pattern})+", r"\1", scene.text(path), count=1))
    return {path}


def _reworded(scene: Scene, change: Callable[[str], str]) -> Paths:
    for path, sentence in scene.sentences():
        if change(sentence.text) != sentence.text:
            scene.write(path, scene.text(path).replace(sentence.text, change(sentence.text), 1))
            return {path}
    return None


def _denied(words: str) -> str:
    found = re.search(rf"\b({'|'.join(_DENIED)})\b(?! not)", words)
    return words[: found.start()] + _DENIED[found[1]] + words[found.end() :] if found else words


def _other_number(words: str) -> str:
    """Return words with the digits of a number in another order, or one digit changed."""
    found = re.search(r"(?<![\w.,$^{-])([2-9]|[1-9]\d{1,4})(?= [a-z]{4})", words)
    if not found:
        return words
    other = found[1][::-1] if found[1][::-1].lstrip("0") not in ("", found[1]) and len(found[1]) == 2 else ""
    changed = other or found[1][:-1] + str((int(found[1][-1]) + 3) % 10)
    return words[: found.start()] + (changed.lstrip("0") or "3") + words[found.end() :]


def number_changed(scene: Scene) -> Paths:
    return _reworded(scene, _other_number)


def denied(scene: Scene) -> Paths:
    return _reworded(scene, _denied)


def more_said(scene: Scene) -> Paths:
    return _reworded(
        scene,
        lambda words: words.removesuffix(".") + " in every hospital of Wyoming." if words.endswith(".") else words,
    )


def quote_changed(scene: Scene) -> Paths:
    """A word of a quote is changed in the page of its source, and what cites it is as it was."""
    _, sentence = next(scene.sentences())
    summary, claim = f"{sentence.cites[0].summary}.md", str(sentence.cites[0].claim)
    before, block, after = scene.text(summary).partition(f"\n^c-{claim}")
    head, mark, quote = before.rpartition("> [!quote]")
    changed = re.sub(r"(?m)^(> \S+ )\S+", r"\1anchovies", quote, count=1)
    scene.write(summary, f"{head}{mark}{changed}{block}{after}")
    return {summary}


def summary_denied(scene: Scene) -> Paths:
    for path in scene.paths("wiki/summaries"):
        for said in sentences(scene.text(path)):
            if said.cites and said.text in scene.text(path) and _denied(said.text) != said.text:
                scene.write(path, scene.text(path).replace(said.text, _denied(said.text), 1))
                return {path}
    return None


def summary_with_my_own_sentence(scene: Scene) -> Paths:
    return scene.append(scene.paths("wiki/summaries")[0], "I am sure that this is right in every case.")


def claim_swapped(scene: Scene) -> Paths:
    said = [(p, s) for p, s in scene.sentences() if len(s.cites) == 1]
    for path, one in said:
        for other_path, other in said:
            far = other.text[:20] != one.text[:20] and other.cites[0].summary == one.cites[0].summary
            if other_path != path and far:
                scene.write(path, scene.text(path).replace(str(one.cites[0].claim), str(other.cites[0].claim), 1))
                return {path}
    return None


def _state(scene: Scene, state: str) -> Paths:
    for path, sentence in scene.sentences():
        summary, claim = f"{sentence.cites[0].summary}.md", str(sentence.cites[0].claim)
        before, block, after = scene.text(summary).partition(f"\n^c-{claim}")
        head, current, tail = before.rpartition(" · current · ")
        if block and current:
            scene.write(summary, f"{head} · {state} · {tail}{block}{after}")
            return {path}
    return None


def older_edition(scene: Scene) -> Paths:
    return _state(scene, "superseded")


def no_longer_said(scene: Scene) -> Paths:
    return _state(scene, "retracted")


def _copied(scene: Scene, change: Callable[[str], str]) -> Paths:
    """A sentence is written down in another article as the human remembers it."""
    for path, sentence in scene.sentences():
        words = sentence.text
        if 40 <= len(words) <= 200 and words.endswith(".") and change(words) != words:
            other = next(p for p in scene.paths("wiki/concepts") if p != path)
            return scene.append(other, change(words)) | {path}
    return None


def denied_elsewhere(scene: Scene) -> Paths:
    return _copied(scene, _denied)


def denied_below(scene: Scene) -> Paths:
    for path, sentence in scene.sentences():
        words = sentence.text
        if 40 <= len(words) <= 200 and words.endswith(".") and _denied(words) != words:
            return scene.append(path, _denied(words))
    return None


def other_number_elsewhere(scene: Scene) -> Paths:
    return _copied(scene, _other_number)


def other_number_on_card(scene: Scene) -> Paths:
    for path, sentence in scene.sentences():
        words = sentence.text
        if 30 <= len(words) <= 200 and words.endswith(".") and _other_number(words) != words:
            deck = next(iter(scene.paths("learning/flashcards")), "")
            return scene.append(deck, f"Q: What do I know of {scene.title(path)}?\nA: {_other_number(words)}") | {path}
    return None


# --- files and ledger -------------------------------------------------------------------------------------------------


def article_deleted(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    scene.write(path, None)
    return {path}


def summary_deleted(scene: Scene) -> Paths:
    path = next(p for p in scene.paths("wiki/summaries") if "\n^c-" in scene.text(p))
    scene.write(path, None)
    return {path}


def claim_deleted(scene: Scene) -> Paths:
    path = next(p for p in scene.paths("wiki/summaries") if "\n^c-" in scene.text(p) and len(scene.text(p)) < 300_000)
    scene.write(
        path,
        re.sub(r"> \[!quote\](?:(?!> \[!quote\]).)*?\n\^c-\w{10}\n", "", scene.text(path), count=1, flags=re.DOTALL),
    )
    return {path}


def card_deleted(scene: Scene) -> Paths:
    path, block = _block(scene)
    scene.write(path, scene.text(path).replace(block, "", 1))
    return {"learning/flashcards"}


def _block(scene: Scene) -> tuple[str, str]:
    """Return a deck and the text of one of its cards."""
    path = scene.paths("learning/flashcards")[0]
    text = scene.text(path)
    card = scene.rng.choice(parse_deck(text, path).cards)
    return path, text[card.start : card.end]


def page_copied(scene: Scene) -> Paths:
    path = scene.paths("wiki/concepts")[0]
    copy = path[:-3] + "-2.md"
    scene.write(copy, scene.text(path))
    return {path, copy}


def id_changed(scene: Scene) -> Paths:
    return _property(scene, scene.paths("wiki/concepts")[0], "id", "zzzzzzzzzz")


def id_of_card_changed(scene: Scene) -> Paths:
    path, block = _block(scene)
    scene.write(path, scene.text(path).replace(block, re.sub(r"%% card \w{10}", "%% card zzzzzzzzzz", block), 1))
    return {path}


def claim_made_up(scene: Scene) -> Paths:
    path = next(p for p in scene.paths("wiki/summaries") if "\n^c-" in scene.text(p))
    quote = "> [!quote]\n> This was never said.\n>\n> fact · current · p. 1\n\n^c-zzzzzzzzzz"
    return scene.append(path, quote)


def _claim_of(scene: Scene) -> tuple[str, str]:
    """Return the page of a source and the text of one of its claims."""
    path = next(p for p in scene.paths("wiki/summaries") if "\n^c-" in scene.text(p))
    found = re.search(r"^> \[!quote\].*\n(?:>.*\n)+\n\^c-\w{10}$", scene.text(path), re.MULTILINE)
    assert found is not None
    return path, found[0]


def claim_copied(scene: Scene) -> Paths:
    path, claim = _claim_of(scene)
    return scene.append(path, claim)


def claim_copied_to_other_page(scene: Scene) -> Paths:
    path, claim = _claim_of(scene)
    other = next((p for p in scene.paths("wiki/summaries") if p != path), None)
    return None if other is None else scene.append(other, claim) | {path}


def id_given_twice(scene: Scene) -> Paths:
    text = scene.text("ledger/ids.jsonl")
    line = next(line for line in text.split("\n") if '"of":"claim"' in line)
    scene.write("ledger/ids.jsonl", text + re.sub(r'"key":"', '"key":"another-', line) + "\n")
    return {"ledger/ids.jsonl"}


def source_edited(scene: Scene) -> Paths:
    for path in scene.paths("wiki/summaries"):
        raw = read_properties(scene.text(path)).text("source")
        if raw and (scene.root / raw).is_file():
            scene.write(raw, (scene.root / raw).read_bytes() + b"\n\nOne more thing.\n")
            return {path}
    return None


def source_deleted(scene: Scene) -> Paths:
    path = next(
        p
        for p in scene.paths("wiki/summaries")
        if (scene.root / read_properties(scene.text(p)).text("source")).is_file()
    )
    scene.write(read_properties(scene.text(path)).text("source"), None)
    return {path}


def new_source(scene: Scene) -> Paths:
    scene.write("raw/zz-new.md", "# New\n\nA sextant is an instrument that measures angles.\n")
    return {"raw/zz-new.md"}


def late_source(scene: Scene) -> Paths:
    path = scene.paths("raw", "")[0]
    scene.write(
        "retain.toml", f'{scene.text("retain.toml").rstrip()}\n\n[freshness]\n"{path.rpartition("/")[0]}" = "1 hour"\n'
    )
    return {path}


# --- answers ----------------------------------------------------------------------------------------------------------


def _answer(scene: Scene, digest: str) -> tuple[str, str]:
    """File an answer that cites a claim; return its path and the citation. `digest` is of the claim's quote."""
    path, sentence = next(scene.sentences())
    cite = str(sentence.cites[0])
    scene.write(
        "wiki/answers/zz-what.md",
        f"---\ntype: synthesis\ntitle: What?\nquestion: What?\nclaims:\n  - {sentence.cites[0].claim} {digest}\n---\n\n"
        f"# What?\n\n{sentence.text} {cite}\n",
    )
    return "wiki/answers/zz-what.md", path


def answer_outdated(scene: Scene) -> Paths:
    return {_answer(scene, "000000000000")[0]}


def answer_cited(scene: Scene) -> Paths:
    _, article = _answer(scene, "000000000000")
    return scene.append(article, "So it is. [[wiki/answers/zz-what|1]]")


def answer_as_source(scene: Scene) -> Paths:
    _, article = _answer(scene, "000000000000")
    scene.write(
        article, scene.text(article).replace("sources:\n", 'sources:\n  - "[[wiki/answers/zz-what|What?]]"\n', 1)
    )
    return {article}


# --- cards ------------------------------------------------------------------------------------------------------------


def _card(scene: Scene, question: str, answer: str) -> Paths:
    return scene.append(scene.paths("learning/flashcards")[0], f"Q: {question}\nA: {answer}")


def long_answer(scene: Scene) -> Paths:
    return _card(scene, "What do I know of the harbour?", "It is " + "a very wide and deep place " * 13 + "indeed.")


def card_copied(scene: Scene) -> Paths:
    path, block = _block(scene)
    return scene.append(path, re.sub(r"\n%% card .*?%%", "", block).strip())


def card_reworded(scene: Scene) -> Paths:
    path = scene.paths("learning/flashcards")[0]
    card = parse_deck(scene.text(path), path).cards[0]
    return scene.append(path, f"Q: {card.question.removesuffix('?').strip()}, then?\nA: {card.answer}")


def card_in_other_deck(scene: Scene) -> Paths:
    path, block = _block(scene)
    other = next((p for p in scene.paths("learning/flashcards") if p != path), None)
    if other is None:
        return None
    return scene.append(other, re.sub(r"\n%% card .*?%%", "", block).strip()) | {path}


def question_with_two_answers(scene: Scene) -> Paths:
    decks = scene.paths("learning/flashcards")
    if len(decks) < 2:
        return None
    scene.append(decks[0], "Q: What is the default limit?\nA: Ten requests a second.")
    return scene.append(decks[1], "Q: What is the default limit?\nA: A quarter of the memory.") | {decks[0]}


def comment_alone(scene: Scene) -> Paths:
    return scene.append(scene.paths("learning/flashcards")[0], "%% card zzzzzzzzzz 000000 %%")


def _above_first_card(scene: Scene, words: str) -> Paths:
    path, block = _block(scene)
    scene.write(path, scene.text(path).replace(block, f"{words}\n\n{block}", 1))
    return {path}


def fence_open(scene: Scene) -> Paths:
    return _above_first_card(scene, "Q: What does the sextant print?\nA: This:\n```python\nprint(1)")


def fence_open_at_end(scene: Scene) -> Paths:
    return _card(scene, "What does the sextant print?", "This:\n```python\nprint(1)")


def html_comment_open(scene: Scene) -> Paths:
    return _above_first_card(scene, "Q: What does the sextant measure?\nA: Angles. <!-- look it up")


def comment_open(scene: Scene) -> Paths:
    return _card(scene, "What does the sextant measure?", "Angles. %% look it up")


def deletion_open(scene: Scene) -> Paths:
    path = scene.paths("learning/flashcards")[0]
    return scene.append(path, "C: The {{c1::sextant}} measures {{c2::angles at sea.")


def question_deleted(scene: Scene) -> Paths:
    return scene.append(scene.paths("learning/flashcards")[0], "A: It measures angles.")


def question_between_deleted(scene: Scene) -> Paths:
    return _card(scene, "What does the sextant measure?", "Angles.\nA: Ropes.")


def tag_mistyped(scene: Scene) -> Paths:
    return scene.append(scene.paths("learning/flashcards")[0], "**Q:** What is a sheet at sea?\n**A:** A rope.")


def answer_in_question(scene: Scene) -> Paths:
    return _card(scene, "Does the sextant measure angles at sea?", "The sextant measures angles.")


def it_without_name(scene: Scene) -> Paths:
    return _card(
        scene, scene.rng.choice(["What does it do?", "Why is this important?", "How do they work?"]), "By rope."
    )


def support_deleted(scene: Scene) -> Paths:
    path, block = _block(scene)
    scene.write(path, scene.text(path).replace(block, re.sub(r"^> \[\[.*\n", "", block, flags=re.MULTILINE), 1))
    return {path}


def support_mistyped(scene: Scene) -> Paths:
    path, block = _block(scene)
    scene.write(path, scene.text(path).replace(block, re.sub(r"#\^c-\w{10}", "#^c-zzzzzzzzzz", block), 1))
    return {path}


def answer_rewritten(scene: Scene) -> Paths:
    path, block = _block(scene)
    scene.write(
        path,
        scene.text(path).replace(
            block, re.sub(r"^A: .*$", "A: It was born in 1066 in Wyoming.", block, count=1, flags=re.MULTILINE), 1
        ),
    )
    return {path}


# --- logs -------------------------------------------------------------------------------------------------------------


def byte_flipped(scene: Scene) -> Paths:
    path = scene.rng.choice(["ledger/ids.jsonl", "ledger/builds.jsonl"])
    lines = scene.text(path).rstrip("\n").split("\n")
    at = scene.rng.randrange(len(lines))
    lines[at] = lines[at].replace('"type"', '"tyqe"', 1)
    scene.write(path, "\n".join(lines) + "\n")
    return {path}


def line_torn(scene: Scene) -> Paths:
    text = scene.text("ledger/ids.jsonl").rstrip("\n")
    scene.write("ledger/ids.jsonl", text[:-20] + "\n")
    return {"ledger/ids.jsonl"}


def lines_lost(scene: Scene) -> Paths:
    lines = scene.text("ledger/ids.jsonl").rstrip("\n").split("\n")
    del lines[scene.rng.randrange(len(lines)) :][:3]
    scene.write("ledger/ids.jsonl", "\n".join(lines[:-2]) + "\n")
    return {"ledger", "ledger/ids.jsonl"}


Planter = Callable[[Scene], Paths]
PLANTERS: dict[str, tuple[Planter, ...]] = {
    "broken-link": (
        link_in_note,
        link_in_article,
        link_mistyped,
        page_deleted,
        heading_gone,
        claim_mistyped,
        bare_name_gone,
        file_link_in_note,
    ),
    "ambiguous-link": (same_name_twice, note_named_like_article),
    "orphan": (links_to_page_removed, page_of_my_own),
    "unindexed": (line_of_index_lost, line_of_catalogue_lost, catalogue_deleted, page_of_my_own, answer_of_my_own),
    "one-way-link": (name_of_one_that_links_here,),
    "suggested-link": (name_without_link,),
    "missing-note": (notes_name_the_same,),
    "near-duplicate": (title_in_plural, title_with_hyphen, title_mistyped),
    "suspected-duplicate": (doubt_of_a_compile,),
    "no-definition": (definition_cut,),
    "missing-page": (gap_of_another_clone,),
    "suggested-topic": (pages_without_topic,),
    "thin": (cut_to_one_statement, emptied),
    "stale": (updated_long_ago, fast_and_old),
    "quarantined": (held_back, moved_away),
    "confidence": (trusted_too_much,),
    "conflicted": (
        merge_in_article,
        merge_in_note,
        merge_in_deck,
        merge_in_source,
        merge_half_cleaned,
        version_beside,
        page_synced,
        deck_synced,
        source_synced,
        note_synced,
    ),
    "unreadable": (not_text,),
    "uncited": (my_own_sentence, citation_deleted, summary_with_my_own_sentence),
    "unsupported": (number_changed, denied, more_said, claim_swapped, quote_changed, summary_denied),
    "superseded": (older_edition,),
    "retracted": (no_longer_said,),
    "contradiction": (denied_elsewhere, denied_below),
    "numbers": (other_number_elsewhere, other_number_on_card),
    "lost": (article_deleted, summary_deleted, claim_deleted, card_deleted),
    "unrecorded": (
        page_copied,
        id_changed,
        id_of_card_changed,
        claim_made_up,
        claim_copied,
        claim_copied_to_other_page,
        id_given_twice,
    ),
    "source-changed": (source_edited, source_deleted),
    "not-compiled": (new_source,),
    "late-source": (late_source,),
    "circular": (answer_cited, answer_as_source),
    "answer-stale": (answer_outdated,),
    "card-long": (long_answer,),
    "card-double": (card_copied, card_reworded, card_in_other_deck),
    "card-ambiguous": (question_with_two_answers,),
    "card-damaged": (
        comment_alone,
        fence_open,
        fence_open_at_end,
        html_comment_open,
        comment_open,
        deletion_open,
        question_deleted,
        question_between_deleted,
        tag_mistyped,
    ),
    "card-leaks": (answer_in_question,),
    "card-unclear": (it_without_name,),
    "card-unsupported": (support_deleted, support_mistyped, answer_rewritten),
    "damaged-line": (byte_flipped, line_torn),
    "records-lost": (lines_lost,),
}
