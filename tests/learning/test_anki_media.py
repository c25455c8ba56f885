"""Pictures in the package: the real Anki takes them in once, and nothing but pictures of the vault ever gets there."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from learning.anki.export_package import export_anki
from learning.anki.field_html import field
from learning.anki.media import MAX_BYTES, Media, suffix_of
from learning.cards.workspace import open_desk
from learning.formats.jsonl import render_jsonl
from learning.formats.obsidian_sr import obsidian_files
from learning.formats.qa import qa_files
from vault.vault import Vault

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><path d="M0 0h9"/></svg>'


def png(shade: int = 200) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), (shade, 10, 10)).save(out, "PNG")
    return out.getvalue()


def put(vault: Vault, path: str, data: bytes) -> str:
    target = vault.root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return path


def asset(vault: Vault, stem: str, data: bytes, suffix: str) -> str:
    return put(vault, f"wiki/assets/{stem}-{hashlib.sha256(data).hexdigest()[:12]}.{suffix}", data)


def deck(vault: Vault, *answers: str) -> None:
    blocks = [f"Q: Number {n}?\nA: {a}\n<!-- card ccccccccc{n} -->\n" for n, a in enumerate(answers)]
    (vault.root / "learning/flashcards/shown.md").write_text("# Shown\n\n" + "\n".join(blocks))


def exported(vault: Vault, now: datetime = NOON) -> Path:
    path = vault.root.parent / "deck.apkg"
    export_anki(open_desk(vault, now), path)
    return path


@contextmanager
def collection(folder: Path) -> Iterator[Any]:
    from anki.collection import Collection

    opened = Collection(str(folder / "collection.anki2"))
    try:
        yield opened
    finally:
        opened.close()


def take_in(col: Any, apkg: Path) -> Any:
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    options = ImportAnkiPackageOptions(merge_notetypes=False, with_scheduling=False)
    return col.import_anki_package(ImportAnkiPackageRequest(package_path=str(apkg), options=options)).log


def media_of(col: Any) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(Path(col.media.dir()).iterdir())}


def test_anki_shows_the_pictures_of_cards_and_takes_each_in_once(vault: Vault, tmp_path: Path) -> None:
    plot, drawing = asset(vault, "plot", png(), "png"), asset(vault, "loop", SVG, "svg")
    deck(vault, f"A plot.\n![[{plot}|The plot]]", f"Both.\n![[{plot}]]\n![[{drawing}|The loop]]")
    with collection(tmp_path) as col:
        take_in(col, exported(vault))
        media = media_of(col)
        assert sorted(media.values()) == sorted([png(), SVG])
        notes = {note["CardId"]: note for note in (col.get_note(i) for i in col.find_notes(""))}
        name = next(n for n, data in media.items() if data == png())
        assert notes["ccccccccc0"]["Answer"] == f'A plot.<br>\n<img src="{name}" alt="The plot">'
        assert notes["ccccccccc1"]["Answer"].count("<img ") == 2
        found = col.media.check()
        assert (list(found.missing), list(found.unused)) == ([], [])
        deck(vault, f"A better plot.\n![[{plot}|The plot]]", f"Both.\n![[{plot}]]\n![[{drawing}|The loop]]")
        log = take_in(col, exported(vault, NOON + timedelta(days=1)))
        assert (len(log.new), len(log.updated)) == (0, 1)
        assert media_of(col) == media


def test_a_picture_of_a_hand_made_card_is_found_in_raw_by_path_or_name(vault: Vault) -> None:
    put(vault, "raw/images/mine.png", png())
    media = Media(vault)
    name = media.name_of("raw/images/mine.png")
    assert name is not None and media.name_of("mine.png") == name
    assert list(media.files.values()) == [png()]
    put(vault, "raw/papers/mine.png", png(9))
    assert Media(vault).name_of("mine.png") is None


def test_a_mere_name_is_looked_for_in_folders_stacked_up_by_the_thousand(
    vault: Vault, stack_up: Callable[[Path], None]
) -> None:
    stack_up(vault.root / "raw")
    put(vault, "raw/d/d/mine.png", png())
    assert Media(vault).name_of("mine.png") is not None


def test_only_pictures_of_the_vault_get_into_a_package(vault: Vault) -> None:
    put(vault, "insights/mine.png", png())
    put(vault, "raw/notes.png", b"secret words, not a picture")
    put(vault, "raw/drawing.svg", SVG)
    put(vault, "wiki/assets/other-0123456789ab.svg", SVG)
    put(vault, "raw/huge.png", b"\x89PNG\r\n\x1a\n" + b"\0" * MAX_BYTES)
    (vault.root / "raw/link.png").symlink_to(vault.root / "insights/mine.png")
    (vault.root / "raw/away").symlink_to(vault.root / "insights")
    wanted = [
        "insights/mine.png",
        "raw/../insights/mine.png",
        "raw/link.png",
        "link.png",
        "raw/away/mine.png",
        "mine.png",
        "raw/notes.png",
        "raw/drawing.svg",
        "raw/huge.png",
        "wiki/assets/other-0123456789ab.svg",
        "/etc/passwd",
        "../../etc/passwd",
        "retain.toml",
        "raw",
        "raw/",
        "raw/absent.png",
        "raw/\x00.png",
        "",
    ]
    media = Media(vault)
    assert [media.name_of(target) for target in wanted] == [None] * len(wanted)
    deck(vault, " ".join(f"![[{target}|words {n}]]" for n, target in enumerate(wanted[:-2])))
    with zipfile.ZipFile(exported(vault)) as archive:
        assert json.loads(archive.read("media")) == {}
        assert sorted(archive.namelist()) == ["collection.anki2", "media"]


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (png(), "png"),
        (b"\xff\xd8\xff\xe0", "jpg"),
        (b"GIF89a..", "gif"),
        (b"RIFF....WEBPVP8 ", "webp"),
        (b"<svg", None),
    ],
)
def test_a_picture_is_told_by_its_bytes_whatever_its_name(data: bytes, suffix: str | None) -> None:
    assert suffix_of("raw/any.svg", data) == suffix


def test_names_and_words_of_a_picture_cannot_act_in_a_field() -> None:
    shown = field('![[raw/a.png|x" onerror="alert(1)" {{z}} <b>]]', lambda target: 'n"<>.png')
    assert shown.startswith('<img src="n&quot;&lt;&gt;.png" alt="x&quot; onerror=&quot;')
    assert not set("[]{}") & set(shown) and shown.count("<") == 1


def test_a_picture_that_is_not_there_is_named_by_its_words() -> None:
    assert field("See ![[raw/a.png|The plot]] and ![[b.png]].", lambda target: None) == "See The plot and b.png."
    assert field("[[raw/a.png|The plot]]", lambda target: "n.png") == "The plot"


def imported(vault: Vault, stem: str, data: bytes, suffix: str) -> str:
    return put(vault, f"learning/media/{stem}-{hashlib.sha256(data).hexdigest()[:12]}.{suffix}", data)


def test_media_that_came_from_anki_go_back_there(vault: Vault, tmp_path: Path) -> None:
    heart, beat = imported(vault, "heart", png(), "png"), imported(vault, "beat", b"OggS" + b"\0" * 60, "ogg")
    drawing = imported(vault, "axes", SVG, "svg")
    deck(vault, f"![[{heart}]]\n![[{beat}]]\n![[{drawing}]]")
    with collection(tmp_path) as col:
        take_in(col, exported(vault))
        shown = media_of(col)
        (note,) = (col.get_note(id_) for id_ in col.find_notes("CardId:ccccccccc0"))
        assert sorted(Path(name).suffix for name in shown) == [".ogg", ".png", ".svg"]
        assert sorted(shown.values()) == sorted([png(), SVG, b"OggS" + b"\0" * 60])
        assert note["Answer"].count("<img src=") == 2 and note["Answer"].count("[sound:retain-") == 1
        found = col.media.check()
        assert (list(found.missing), list(found.unused)) == ([], [])


def test_a_file_among_the_imported_media_that_is_another_than_its_name_says_stays_here(vault: Vault) -> None:
    put(vault, "learning/media/axes-0123456789ab.svg", SVG)
    put(vault, "learning/media/beat-0123456789ab.ogg", b"OggS")
    acting = b"<svg><script>alert(1)</script></svg>"
    wanted = [imported(vault, "bad", acting, "svg"), imported(vault, "page", b"<html>", "mp3")]
    wanted += ["learning/media/axes-0123456789ab.svg", "learning/media/beat-0123456789ab.ogg", "learning/reviews.jsonl"]
    assert [Media(vault).name_of(target) for target in wanted] == [None] * len(wanted)


def test_other_exports_name_the_pictures_that_they_cannot_carry(vault: Vault) -> None:
    heart = imported(vault, "heart", png(), "png")
    deck(vault, f"See it.\n![[{heart}]]")
    desk = open_desk(vault, NOON)
    name = heart.rpartition("/")[2]
    for made in (qa_files(desk)["shown.md"], obsidian_files(desk)["shown.md"]):
        assert name in made.decode() and "![[" not in made.decode()
    lines = [json.loads(line) for line in render_jsonl(desk).splitlines()]
    assert f"![[{heart}]]" in next(line["answer"] for line in lines if line["id"] == "ccccccccc0")
