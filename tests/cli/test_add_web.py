"""`retain add URL` as a user runs it: what is stored, under which name, and what is said when it is not."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, ClassVar

import pytest

from tests.commands import SCRIPT, Run
from vault.model.frontmatter import read_properties

PAGE = "<title>On memory</title><article><h1>On memory</h1><p>{}</p></article>"
WORDS = "The **spacing effect** is the finding that study spread over time is kept longer. " * 6
HOSTILE = """<html><head><title>../../insights/x: [[a]] &lt;% tp.x %&gt; "q" \u202e</title>
<meta name="author" content="A: b # c [[d]] &lt;%* evil() %&gt;"></head>
<body><p>%%words%% of the page</p></body></html>"""


class Handler(BaseHTTPRequestHandler):
    pages: ClassVar[dict[str, tuple[str, bytes]]] = {}
    asked: ClassVar[Event] = Event()
    over: ClassVar[Event] = Event()

    def do_GET(self) -> None:
        kind, body = self.pages.get(self.path, ("", b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind)
        if self.path == "/slow":
            self.end_headers()
            self.wfile.write(b"x" * 100_000)
            self.asked.set()
            self.over.wait(120)
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    Handler.pages = {"/memory": ("text/html; charset=utf-8", PAGE.format(WORDS).encode())}
    Handler.over.clear()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Handler.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def vault(run: Run, tmp_path: Path) -> Path:
    assert run("init", "vault", "--no-git").code == 0
    return tmp_path / "vault"


def raw(vault: Path) -> list[str]:
    return sorted(p.relative_to(vault).as_posix() for p in (vault / "raw").rglob("*") if p.is_file())


def events(vault: Path, type_: str) -> list[dict[str, Any]]:
    file = vault / "ledger/decisions.jsonl"
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    return [event for event in found if event["type"] == type_]


def test_a_page_is_kept_as_a_clipping_with_its_address_and_day(run: Run, vault: Path, site: str) -> None:
    done = run("add", f"{site}/memory", "--authority", "2", "--json", cwd=vault)
    assert done.code == 0 and done.json()["added"] == raw(vault) == ["raw/articles/on-memory.md"]
    text = (vault / "raw/articles/on-memory.md").read_text("utf-8")
    properties = read_properties(text)
    assert properties.text("title") == "On memory" and properties.text("source") == f"{site}/memory"
    assert len(properties.text("created")) == 10 and "# On memory" in text
    assert events(vault, "origin")[0]["address"] == f"{site}/memory"
    assert events(vault, "authority")[0]["path"] == "raw/articles/on-memory.md"
    assert run("compile", "--json", cwd=vault).json()["sources"]["read"] == 1


def test_the_same_page_again_is_told_and_a_changed_one_laid_beside_it(run: Run, vault: Path, site: str) -> None:
    run("add", f"{site}/memory", cwd=vault)
    again = run("add", f"{site}/memory#part", "--json", cwd=vault)
    assert again.json()["added"] == [] and again.json()["unchanged"] == ["raw/articles/on-memory.md"]
    assert "unchanged since" in again.stderr and len(events(vault, "origin")) == 1
    before = (vault / "raw/articles/on-memory.md").read_bytes()
    Handler.pages["/memory"] = ("text/html", PAGE.format(f"{WORDS} And more.").encode())
    changed = run("add", f"{site}/memory", "--json", cwd=vault)
    (path,) = changed.json()["added"]
    assert path.startswith("raw/articles/on-memory-20") and "the earlier copy raw/articles/on-memory" in changed.stderr
    assert changed.json()["fetched"][0]["earlier"] == ["raw/articles/on-memory.md"]
    assert (vault / "raw/articles/on-memory.md").read_bytes() == before
    Handler.pages["/other"] = ("text/html", PAGE.format("Another page of that title.").encode())
    assert run("add", f"{site}/other", "--json", cwd=vault).json()["added"] == ["raw/articles/on-memory-2.md"]


def test_other_documents_are_kept_as_they_are_where_they_belong(run: Run, vault: Path, site: str) -> None:
    pdf = b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n<<>>\nendobj\n"
    Handler.pages |= {
        "/2401.1%20v2.pdf": ("application/pdf", pdf),
        "/get?id=1": ("application/octet-stream", pdf),
        "/data/gaps.csv": ("text/csv", b"gap,kept\n1 day,80\n"),
        "/notes": ("text/plain; charset=windows-1251", "Память и забывание".encode("cp1251")),
        "/x.zip": ("application/zip", b"PK\x03\x04 no document"),
        "/x.json": ("application/json", b'{"a": 1}'),
    }
    done = run("add", *(site + path for path in Handler.pages), "--json", cwd=vault)
    assert done.code == 1
    assert raw(vault) == [
        "raw/articles/notes.txt",
        "raw/articles/on-memory.md",
        "raw/datasets/gaps.csv",
        "raw/papers/2401-1-v2.pdf",
        "raw/papers/get.pdf",
    ]
    assert (vault / "raw/papers/get.pdf").read_bytes() == pdf
    assert (vault / "raw/articles/notes.txt").read_text("utf-8") == "Память и забывание"
    assert [r["path"] for r in done.json()["refused"]] == [f"{site}/x.zip", f"{site}/x.json"]
    assert done.stderr.count("not a readable document") == 2


def test_a_page_names_neither_its_file_nor_anything_that_acts(run: Run, vault: Path, site: str) -> None:
    Handler.pages["/x"] = ("text/html; charset=utf-8", HOSTILE.encode())
    done = run("add", f"{site}/x", "--json", cwd=vault)
    assert done.json()["added"] == ["raw/articles/insights-x-a-tp-x-q.md"] == raw(vault)
    text = (vault / done.json()["added"][0]).read_text("utf-8")
    assert "<%" not in text and "\n%%" not in text and "\u202e" not in text + done.stdout + done.stderr
    assert set(read_properties(text).values) == {"title", "source", "author", "created"}
    assert "only" in done.stderr and "characters of text" in done.stderr
    assert list((vault / "insights").iterdir()) in ([], [vault / "insights/.gitkeep"])


def test_no_note_loads_a_picture_from_elsewhere_when_it_is_opened(run: Run, vault: Path, site: str) -> None:
    pictures = (
        '<img src="https://track.example/p.gif?u=1" width=1 height=1><img src="http://10.0.0.1/x.png" alt="">'
        '<figure><img src="/curve.png" alt="falls"><figcaption>The curve.</figcaption></figure>'
        '<p><img src="http://192.168.1.1/logout" alt="A [nice] ![picture](http://a.example)"></p>'
    )
    Handler.pages["/p"] = ("text/html", PAGE.format(WORDS + pictures).encode())
    Handler.pages["/m.md"] = (
        "text/markdown",
        f"# M\n\n{WORDS}\n\n![x](https://track.example/1.gif) ![](b.png)".encode(),
    )
    done = run("add", f"{site}/p", f"{site}/m.md", "--json", cwd=vault)
    assert done.code == 0 and len(raw(vault)) == 2
    notes = [(vault / path).read_text("utf-8") for path in raw(vault)]
    assert f"*[The curve.]({site}/curve.png)*" in "".join(notes)
    for note in notes:
        assert not re.search(r"(?<!\\)!\[|<img|track\.example/p|10\.0\.0\.1", note), note


@pytest.mark.parametrize(
    ("kind", "name", "body", "sent"),
    [
        ("application/pdf", "paper.pdf", b"<!doctype html><h1>Log in</h1>", "a web page"),
        ("application/pdf", "paper.pdf", bytes(range(256)), "something else"),
        ("application/epub+zip", "book.epub", b"<html><p>Not found</p>", "a web page"),
        ("application/octet-stream", "talk.pptx", b"%!PS-Adobe-3.0", "a PostScript file"),
        ("text/csv", "data.csv", b"<!doctype html><h1>Log in</h1>", "a web page"),
        ("text/plain", "notes.txt", b"abc\0\1\2", "something else"),
    ],
)
def test_a_body_that_is_not_what_its_type_says_is_named_at_once(
    run: Run, vault: Path, site: str, kind: str, name: str, body: bytes, sent: str
) -> None:
    Handler.pages[f"/{name}"] = (kind, body)
    done = run("add", f"{site}/{name}", cwd=vault)
    assert done.code == 1 and f"the server announced {kind} but sent {sent}" in done.stderr and raw(vault) == []


def test_a_pdf_that_is_called_a_web_page_is_kept_as_a_pdf(run: Run, vault: Path, site: str) -> None:
    Handler.pages["/paper"] = ("text/html", b"%PDF-1.4\n%\xe2\xe3\n1 0 obj\n<<>>\nendobj\n")
    assert run("add", f"{site}/paper", "--json", cwd=vault).json()["added"] == ["raw/papers/paper.pdf"]


def test_one_address_that_fails_does_not_end_the_add(run: Run, vault: Path, site: str, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# Mine")
    Handler.pages["/app"] = ("text/html", b"<body><script>app()</script></body>")
    done = run("add", f"{site}/gone", f"{site}/app", str(tmp_path / "mine.md"), f"{site}/memory", cwd=vault)
    assert done.code == 1 and len(raw(vault)) == 2
    assert "page not found (404)" in done.stderr and "no article found" in done.stderr
    for wrong in ("ftp://example.org/x", "https://me:pw@example.org/"):
        refused = run("add", str(tmp_path / "mine.md"), wrong, cwd=vault)
        assert refused.code == 2 and "added" not in refused.stderr and ":pw" not in refused.stderr


def test_a_document_larger_than_asked_for_is_not_kept(run: Run, vault: Path, site: str) -> None:
    Handler.pages["/big"] = ("text/plain", b"word " * 300_000)
    done = run("add", f"{site}/big", "--max-size", "1", cwd=vault)
    assert done.code == 1 and "larger than 1 MiB" in done.stderr and raw(vault) == []
    assert run("add", f"{site}/big", cwd=vault).code == 0


def test_an_interrupted_download_leaves_nothing(vault: Path, site: str) -> None:
    Handler.pages["/slow"] = ("text/plain", b"")
    Handler.asked.clear()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RETAIN")}
    with subprocess.Popen(
        [SCRIPT, "add", f"{site}/slow"], cwd=vault, env=environment, stderr=subprocess.PIPE
    ) as adding:
        assert Handler.asked.wait(600)
        adding.send_signal(signal.SIGINT)
        said = adding.communicate(timeout=600)[1].decode()
    assert adding.returncode == 130 and "Traceback" not in said
    assert raw(vault) == [] and events(vault, "origin") == []


def test_what_came_before_an_interrupted_download_is_named(vault: Path, site: str) -> None:
    Handler.pages["/slow"] = ("text/plain", b"")
    Handler.asked.clear()
    with subprocess.Popen(
        [SCRIPT, "add", f"{site}/memory", f"{site}/slow"], cwd=vault, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as adding:
        assert Handler.asked.wait(600)
        adding.send_signal(signal.SIGINT)
        shown, said = (stream.decode() for stream in adding.communicate(timeout=600))
    assert adding.returncode == 130 and shown.split() == raw(vault) == ["raw/articles/on-memory.md"]
    assert "1 added" in said and len(events(vault, "origin")) == 1


def test_a_source_is_added_for_a_gap(run: Run, needy: Path, site: str) -> None:
    gaps = run("gaps", "list", "--all", "--json", cwd=needy).json()["gaps"]
    gap = next(g for g in gaps if g["status"] == "open")
    done = run("add", "--fills", gap["id"][:8], f"{site}/memory", "--json", cwd=needy)
    assert done.code == 0 and done.json()["fills"] == [gap["id"]]
    (event,) = events(needy, "fills")
    assert (event["gap"], event["path"]) == (gap["id"], "raw/articles/on-memory.md")
    assert run("add", "--fills", gap["id"], f"{site}/memory", cwd=needy).code == 0
    assert len(events(needy, "fills")) == 1, "what the ledger knows is not said again"
    unknown = run("add", "--fills", "zzzzzzzzzz", f"{site}/memory", cwd=needy)
    assert unknown.code == 2 and "there is no gap with that id" in unknown.stderr


def test_a_program_hears_that_the_last_page_has_been_fetched(run: Run, vault: Path, site: str) -> None:
    done = run("add", f"{site}/memory", "--progress", "jsonl", cwd=vault)
    told = [json.loads(line) for line in done.stderr.splitlines() if '"fetch"' in line]
    assert [(event["done"], event["of"]) for event in told] == [(0, 1), (1, 1)]
