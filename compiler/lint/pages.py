"""Rules on pages: names, openings, length, age, and how far they may be trusted."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date

from compiler.agents.quarantine import QUARANTINE
from compiler.claims.conflicts import UNDECIDED
from compiler.lint.wiki import Page, Wiki
from compiler.query.filing import MOST
from compiler.sources.confidence import confidence, independent_pages
from compiler.sources.inventory import CONFLICT_COPY
from vault.errors import Damaged, Refused
from vault.files.write_scopes import file_of_conflict_copy, is_conflict_copy
from vault.layout import GAPS
from vault.model.article import CONFIDENCE, FRESHNESS_DAYS, is_stale, lowered
from vault.model.claim import ClaimKind
from vault.model.fences import code_blocks
from vault.model.wikilink import links
from vault.text.diff import line_of
from vault.text.formatting import clean_line, plural

Found = Iterator[tuple[str, int, str, str]]
_SHOWN = 4  # sources in a finding
_TEXT = (".md", ".markdown", ".txt", ".rst")


def undefined(wiki: Wiki) -> Found:
    """Yield articles whose first statement rests on no definition."""
    for page in wiki.articles:
        first = page.sentences[0] if page.sentences else None
        cited = [wiki.claims[str(c.claim)][0] for c in first.cites if str(c.claim) in wiki.claims] if first else []
        if cited and not any(claim.kind is ClaimKind.DEFINITION for claim in cited):
            ask = f"`retain ask {shlex.quote(f'What is {page.title}?')}`"
            remedy = f"add a source that defines it (see `retain gaps`), or run {ask}"
            yield page.path, first.line if first else 0, "it does not start by saying what its subject is", remedy


def thin(wiki: Wiki) -> Found:
    """Yield articles with one statement that others build on."""
    for page in wiki.articles:
        leaning = [other for other in (*wiki.articles, *wiki.notes) if other is not page and page.stem in other.targets]
        if len(page.sentences) <= 1 and leaning:
            count = "no statement" if not page.sentences else "one statement"
            verb = "links" if len(leaning) == 1 else "link"
            what = f"it has {count}, but {plural(len(leaning), 'page')} {verb} to it, such as {leaning[0].path}"
            yield page.path, 0, what, "add a source about it, or merge it: `retain concept merge`"


def stale(wiki: Wiki) -> Found:
    """Yield articles and topics whose time to be looked at again has come."""
    for page in (*wiki.articles, *wiki.topics):
        tier, updated, base = (page.properties.text(key) for key in ("freshness", "updated", "confidence"))
        if is_stale(updated, tier, wiki.today):
            age = (wiki.today - date.fromisoformat(updated)).days
            shown = lowered(base, stale=True)
            less = f"; its confidence counts as {shown} instead of {base}" if shown != base else ""
            what = (
                f"last updated {age} days ago; {tier} pages should be reviewed after {FRESHNESS_DAYS[tier]} days{less}"
            )
            slow = f"`retain concept freshness {shlex.quote(page.title)} slow`"
            remedy = f"add a newer source, or set its review interval to a year: {slow}"
            yield page.path, 0, what, remedy


def quarantined(wiki: Wiki) -> Found:
    """Yield pages that are held back, and what agents wrote that was moved away."""
    for page in (*wiki.articles, *wiki.topics):
        if page.properties.text("status") == "quarantined":
            release = "read it, then delete the line `status: quarantined` from its properties"
            yield page.path, 0, "written by an agent, and quarantined", release
    folder = wiki.vault.root / QUARANTINE
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        name = path.relative_to(wiki.vault.root).as_posix()
        if path.is_file() and path.name not in ("report.md", ".gitkeep") and not path.name.startswith("."):
            release = f"read {name.rpartition('/')[0]}/report.md; copy what you want to keep, then delete the file"
            yield name, 0, "written by an agent, and not allowed in the vault", release


def conflicted(wiki: Wiki) -> Found:
    """Yield the marks of a merge that was not finished, and versions beside a file that was edited meanwhile."""
    texts = [(page.path, page.text) for page in (*wiki.pages, *wiki.answers, *wiki.indexes, *wiki.notes)]
    texts += [(deck.path, deck.text) for deck in wiki.decks] + [(GAPS, wiki.agenda)]
    for path, text in texts:
        if line := line_of(text):
            yield path, line, "it contains git conflict markers", "keep one version and delete the markers"
    for path, text in _marked_sources(wiki):
        if line := line_of(_without_code(text)):
            yield path, line, "it contains git conflict markers", "keep one version, then run `retain compile`"
    for path in (*wiki.vault.conflict_copies(), *filter(is_conflict_copy, wiki.insights)):
        original = clean_line(file_of_conflict_copy(path))
        yield path, 0, f"a second version of {original}, which is not read", _what_to_do(path, original)
    for each in wiki.source_files.notices:
        if each.code == CONFLICT_COPY:
            yield each.path, 0, each.message, each.hint


def _marked_sources(wiki: Wiki) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of the text sources in which a conflict marker may be; one in code is an example."""
    for file in wiki.source_files.files:
        if file.path.endswith(_TEXT):
            with suppress(Refused, Damaged):
                data = wiki.vault.read_bytes(file.path) or b""
                if b"<<<<<<< " in data:
                    yield file.path, data.decode("utf-8", "replace")


def _without_code(text: str) -> str:
    """Return `text` with empty lines in place of its code blocks; one that is never closed stays."""
    lines = text.split("\n")
    for first, last in list(code_blocks(lines)):
        if last:
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(lines)


def _what_to_do(path: str, original: str) -> str:
    """Return what to do with a conflicted copy."""
    if path.endswith(".jsonl"):
        return f"add the lines that only it has to the end of {original}, then delete this file"
    return "compare both, keep what you need in the original, then delete this file"


def overconfident(wiki: Wiki) -> Found:
    """Yield articles that claim more confidence than their sources allow, and answers that claim more than any may."""
    for page in wiki.answers:
        said = page.properties.text("confidence")
        if said in CONFIDENCE and CONFIDENCE.index(said) > CONFIDENCE.index(MOST):
            what = f"its confidence is {said}, but an answer is inferred and can have at most {MOST}"
            yield page.path, 0, what, f"set `confidence: {MOST}`, or ask again with `--file-back`"
    for page in wiki.articles:
        trust = independent_pages(_sources_of(page, wiki), wiki.properties_of)
        said, most, why = page.properties.text("confidence"), confidence(trust, _engine(page)), ""
        if any(UNDECIDED in line for line in page.text.split("\n") if line.startswith("### ")):
            most, why = CONFIDENCE[0], "it contains an unresolved contradiction"
        if said in CONFIDENCE and CONFIDENCE.index(said) > CONFIDENCE.index(most):
            what = f"its confidence is {said}, but its evidence supports at most {most}: {why or _evidence(trust)}"
            yield page.path, 0, what, "run `retain compile` to recompute it"


def _evidence(trust: Mapping[str, int]) -> str:
    """Return the sources on which a page rests, each with its authority."""
    if not trust:
        return "none of the sources that it lists exists any more"
    named = [f"{path.rpartition('/')[2].removesuffix('.md')} with authority {n}" for path, n in sorted(trust.items())]
    more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
    return f"{plural(len(trust), 'independent source')}, {', '.join(named[:_SHOWN])}{more}"


def _engine(page: Page) -> str:
    return "agent/" if page.properties.text("written_by") == "agent" else ""


def _sources_of(page: Page, wiki: Wiki) -> set[str]:
    """Return the sources that a page names or cites, as far as they are there."""
    named = {f"{link.target}.md" for each in page.properties.texts("sources") for link in links(each)}
    return {wiki.claims[id_][1] for id_ in page.cites if id_ in wiki.claims} | (named & wiki.summaries.keys())


def unreadable(wiki: Wiki) -> Found:
    """Yield pages that cannot be read. All others have to be read for that."""
    _ = wiki.indexes, wiki.notes, wiki.agenda
    for page in wiki.pages:
        for problem in page.properties.problems:
            remedy = "fix it, or restore the page from git"
            yield page.path, problem.line, f"its properties cannot be read: {problem.message}", remedy
    for path in wiki.unreadable:
        yield path, 0, "it cannot be read", "`retain verify` shows the reason"
