"""The rows of the index by which the wiki and its sources are searched: texts, and their terms in a full-text index.

What an entry is: a passage of a source, a claim, an article, a topic, an answer, a summary or a card. The full-text
index has the terms of its title and of its text (`compiler.language.search_terms`), separated by blanks. Another one
has the terms of whole sources, each under the number of its first passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from vault.index.database import Database, has_full_text

CODE = "code"  # the form of a passage that is a listing
_ROWS = """
CREATE TABLE searched(path TEXT PRIMARY KEY, input BLOB NOT NULL, language TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry(number INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, line INTEGER NOT NULL,
  ref TEXT NOT NULL, place TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, language TEXT NOT NULL,
  cites TEXT NOT NULL, form TEXT NOT NULL);
CREATE INDEX entry_path ON entry(path);
CREATE INDEX entry_kind ON entry(kind);
CREATE TABLE page_link(path TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY(target, path)) WITHOUT ROWID;
CREATE INDEX page_link_path ON page_link(path);
"""
_TERMS = """
CREATE VIRTUAL TABLE entry_hit USING fts5(title, words, tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE entry_term USING fts5vocab(entry_hit, 'row');
CREATE VIRTUAL TABLE document_hit USING fts5(words, tokenize='unicode61 remove_diacritics 0');
"""
_COLUMNS = "path, kind, line, ref, place, title, text, language, cites, form"


class Entry(NamedTuple):
    """A text that can be found.

    `kind` is "passage", "claim", "article", "topic", "answer", "summary" or "card"; `path` its file, `line` its line
    there (0 in a source), `ref` the id of a claim or card, or of a summary's source. `place` says where in a source it
    is, as people name it. `cites` has, for an article, the ids of the claims that it cites; for a claim or a summary,
    the path of its source. `form` is `CODE` for a listing, else "".
    """

    path: str
    kind: str
    line: int
    ref: str
    place: str
    title: str
    text: str
    language: str
    cites: str = ""
    form: str = ""


class Match(NamedTuple):
    """The number of an entry that a full-text query finds, its file, and its score: the higher, the better."""

    number: int
    path: str
    score: float


def tables() -> str:
    """Return the SQL that makes the tables."""
    return _ROWS + (_TERMS if has_full_text() else "")


def put_entries(
    database: Database,
    path: str,
    input_: bytes,
    language: str,
    rows: Iterable[tuple[Entry, str, str]],
    links: Iterable[str] = (),
) -> None:
    """Replace the entries of a file: each with the terms of its title and of its text, separated by blanks.

    `links` are the paths of the pages to which it links.
    """
    with database.transaction():
        forget_entries(database, [path])
        (last,) = database.one("SELECT ifnull(max(number), 0) FROM entry") or (0,)
        numbered = list(enumerate(rows, last + 1))
        marks = ", ".join("?" * (1 + len(Entry._fields)))
        database.run_many(
            f"INSERT INTO entry(number, {_COLUMNS}) VALUES({marks})", ((n, *e) for n, (e, _, _) in numbered)
        )
        database.run_many(
            "INSERT INTO entry_hit(rowid, title, words) VALUES(?, ?, ?)",
            ((n, title, words) for n, (_, title, words) in numbered),
        )
        if numbered and numbered[0][1][0].kind == "passage":
            whole = " ".join([numbered[0][1][1], *(words for _, (_, _, words) in numbered)])
            database.run("INSERT INTO document_hit(rowid, words) VALUES(?, ?)", (last + 1, whole))
        targets = ((path, target) for target in dict.fromkeys(links) if target != path)
        database.run_many("INSERT INTO page_link VALUES(?, ?)", targets)
        database.run("INSERT OR REPLACE INTO searched VALUES(?, ?, ?)", (path, input_, language))


def forget_entries(database: Database, paths: Iterable[str]) -> None:
    """Remove the entries of files."""
    each = [(path,) for path in paths]
    with database.transaction():
        database.run_many("DELETE FROM entry_hit WHERE rowid IN (SELECT number FROM entry WHERE path = ?)", each)
        database.run_many("DELETE FROM document_hit WHERE rowid IN (SELECT number FROM entry WHERE path = ?)", each)
        database.run_many("DELETE FROM page_link WHERE path = ?", each)
        database.run_many("DELETE FROM entry WHERE path = ?", each)
        database.run_many("DELETE FROM searched WHERE path = ?", each)


def languages(database: Database) -> tuple[str, ...]:
    """Return the languages of the files, the most frequent first."""
    rows = database.rows("SELECT language FROM searched WHERE language != '' GROUP BY language ORDER BY count(*) DESC")
    return tuple(language for (language,) in rows)


def counts(database: Database, terms: Iterable[str]) -> dict[str, int]:
    """Return for each term in how many entries it is; those that are in none are left out."""
    found = {term: database.one("SELECT doc FROM entry_term WHERE term = ?", (term,)) for term in terms}
    return {term: int(row[0]) for term, row in found.items() if row}


def beginning_with(database: Database, letters: str, most: int) -> list[str]:
    """Return the terms that begin with these letters, at most so many."""
    query = "SELECT term FROM entry_term WHERE term >= ? AND term < ? ORDER BY term LIMIT ?"
    return [term for (term,) in database.rows(query, (letters, letters + "\U0010ffff", most))]


def size(database: Database) -> int:
    """Return how many entries there are."""
    (count,) = database.one("SELECT count(*) FROM entry") or (0,)
    return int(count)


def is_somewhere(database: Database, match: str) -> bool:
    """Return whether a full-text query finds an entry."""
    return database.one("SELECT 1 FROM entry_hit WHERE entry_hit MATCH ? LIMIT 1", (match,)) is not None


def matching(
    database: Database, match: str, kinds: Sequence[str], limit: int, *, title: float, words: float
) -> dict[str, list[Match]]:
    """Return the entries that a full-text query finds by their kinds: of each kind so many, the best first.

    `title` and `words` are the weights of the two columns in BM25.
    """
    rows = database.rows(
        f"WITH scored AS (SELECT kind, number, path, -bm25(entry_hit, {title}, {words}) AS score"
        " FROM entry_hit JOIN entry ON entry.number = entry_hit.rowid"
        f" WHERE entry_hit MATCH ? AND kind IN ({', '.join('?' * len(kinds))})),"
        " ranked AS (SELECT *, row_number() OVER (PARTITION BY kind ORDER BY score DESC, number) AS rank FROM scored)"
        " SELECT kind, number, path, score FROM ranked WHERE rank <= ? ORDER BY kind, rank",
        (match, *kinds, limit),
    )
    found: dict[str, list[Match]] = {kind: [] for kind in kinds}
    for kind, *each in rows:
        found[kind].append(Match(*each))
    return found


def matching_sources(database: Database, match: str, limit: int) -> dict[str, float]:
    """Return the scores of the sources that a full-text query finds, by their paths: of so many, the best first."""
    rows = database.rows(
        "SELECT path, -bm25(document_hit) AS score FROM document_hit JOIN entry ON entry.number = document_hit.rowid"
        " WHERE document_hit MATCH ? ORDER BY score DESC LIMIT ?",
        (match, limit),
    )
    return dict(rows)


def read_entry(database: Database, number: int) -> Entry:
    """Return an entry by its number."""
    row = database.one(f"SELECT {_COLUMNS} FROM entry WHERE number = ?", (number,))
    assert row is not None  # the number comes from a query of the same index
    return Entry(*row)


def paths_of(database: Database, numbers: Iterable[int]) -> dict[int, str]:
    """Return the files of entries by their numbers."""
    found = {number: database.one("SELECT path FROM entry WHERE number = ?", (number,)) for number in numbers}
    return {number: str(row[0]) for number, row in found.items() if row}


def links_to(database: Database, paths: Iterable[str]) -> dict[str, int]:
    """Return for each page how many others link to it; those that none links to are left out."""
    found = {path: database.one("SELECT count(*) FROM page_link WHERE target = ?", (path,)) for path in paths}
    return {path: int(row[0]) for path, row in found.items() if row and row[0]}


def entries_of(database: Database, kind: str, cites: str | None = None) -> list[Entry]:
    """Return the entries of a kind in order of their files; of claims and summaries, those of the source `cites`."""
    where, values = (" AND cites = ?", (kind, cites)) if cites is not None else ("", (kind,))
    rows = database.rows(f"SELECT {_COLUMNS} FROM entry WHERE kind = ?{where} ORDER BY path, number", values)
    return [Entry(*row) for row in rows]


def claims_named(database: Database, ids: Sequence[str]) -> list[Entry]:
    """Return the claims with these ids, in this order, as far as they are there."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM entry WHERE kind = 'claim'") if ids else []
    found = {entry.ref: entry for row in rows if (entry := Entry(*row)).ref in set(ids)}
    return [found[id_] for id_ in ids if id_ in found]


def passages_of(database: Database, raw: str) -> list[Entry]:
    """Return the passages of a source in order."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM entry WHERE path = ? AND kind = 'passage' ORDER BY number", (raw,))
    return [Entry(*row) for row in rows]


def titles_of(database: Database, paths: Iterable[str]) -> list[str]:
    """Return the titles of pages in this order, as far as they are there."""
    rows = (database.one("SELECT title FROM entry WHERE path = ?", (path,)) for path in paths)
    return [str(row[0]) for row in rows if row]


def page_of(database: Database, raw: str) -> Entry | None:
    """Return the page of a source, by the path of its file; None if it has none."""
    return next(iter(entries_of(database, "summary", raw)), None)


def articles_citing(database: Database, claims: Set[str]) -> list[tuple[str, str]]:
    """Return (path, title) of the articles that cite one of these claims, in order of their paths."""
    rows = database.rows("SELECT path, title, cites FROM entry WHERE kind = 'article' ORDER BY path") if claims else []
    return [(path, title) for path, title, cites in rows if not claims.isdisjoint(cites.split())]


def entries_in(database: Database, path: str, kinds: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return number, kind, and title with text of the entries of a file that are of these kinds."""
    marks = ", ".join("?" * len(kinds))
    query = f"SELECT number, kind, title || ' ' || text FROM entry WHERE path = ? AND kind IN ({marks}) ORDER BY number"
    return [(int(number), str(kind), str(text)) for number, kind, text in database.rows(query, (path, *kinds))]
