"""What counts as a picture: bytes that are one, of a sane size; a drawing that only draws."""

import io

import pytest
from PIL import Image

from compiler.readers.images import ImageInfo, inspect_image
from vault.errors import Unreadable

OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="30pt" height="20">'


def drawn(inside: str, head: str = "") -> bytes:
    return f"{head}{OPEN}{inside}</svg>".encode()


def bitmap(kind: str, width: int = 40, height: int = 30) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 10, 10)).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(("kind", "suffix"), [("PNG", "png"), ("JPEG", "jpg"), ("GIF", "gif"), ("WEBP", "webp")])
def test_a_bitmap_is_told_by_its_bytes(kind: str, suffix: str) -> None:
    assert inspect_image(bitmap(kind)) == ImageInfo(suffix, 40, 30)


@pytest.mark.parametrize(
    "inside",
    [
        "",
        '<title>Loop</title><g id="a"><path d="M0 0h1" style="fill:url(#b)"/></g><use xlink:href="#a"/>',
        '<defs><linearGradient id="b"/></defs><style>*{stroke-linejoin:round}</style><text>javascript: a word</text>',
        '<image href="data:image/png;base64,iVBORw0KGgo="/>',
        "<path fill=\"url('#b')\" style='fill:url( \"#b\" )'/><desc>a \\ b</desc>",
        '<g id="a"><path/></g>' + '<use href="#a"/>' * 500 + '<use href="#gone"/>',
        '<metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:li rdf:resource="http://x/y"/>'
        "</rdf:RDF></metadata>",
    ],
)
def test_a_drawing_that_only_draws_may_be_shown(inside: str) -> None:
    doctype = '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'
    assert inspect_image(drawn(inside, doctype)) == ImageInfo("svg", 30, 20)


@pytest.mark.parametrize(
    "data",
    [
        drawn("<script>alert(1)</script>"),
        drawn('<g onclick="x()"/>'),
        drawn('<g ONLOAD="x()"/>'),
        drawn('<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject>'),
        drawn('<p xmlns="http://www.w3.org/1999/xhtml">x</p>'),
        drawn('<metadata><iframe xmlns="http://www.w3.org/1999/xhtml" src="http://e"/></metadata>'),
        drawn('<a xlink:href="https://example.org/"><text>go</text></a>'),
        drawn('<use href="https://example.org/a.svg#x"/>'),
        drawn('<use href=" javascript:alert(1)"/>'),
        drawn('<image href="https://example.org/t.png"/>'),
        drawn('<image href="data:image/svg+xml;base64,PHN2Zz4="/>'),
        drawn('<animate attributeName="href" to="javascript:alert(1)"/>'),
        drawn('<set attributeName="onload" to="x()"/>'),
        drawn("<style>@import url(http://example.org/a.css);</style>"),
        drawn("<style>*{background:url( 'http://example.org/a.png')}</style>"),
        drawn("<style>*{background:u\\72l(http://example.org/a)}</style>"),
        drawn('<path style="fill:url(//example.org/a)"/>'),
        drawn('<path fill="url(https://example.org/a#b)"/>'),
        drawn('<path mask="\\75 rl(https://example.org/a#b)"/>'),
        drawn("<path cursor=\"image-set('https://example.org/a' 1x)\"/>"),
        drawn("<g/>", '<!DOCTYPE svg SYSTEM "a>b" [<!ATTLIST svg onload CDATA "x()">]>'),
        ("\ufeff" + drawn("<!--" + b"<svg".decode("utf-16-le") + "-->").decode()).encode("utf-16-le"),
        drawn('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'),
        drawn("".join(f'<g id="g{n + 1}">' + f'<use xlink:href="#g{n}"/>' * 10 + "</g>" for n in range(9))),
        drawn("<!DOCTYPE" * 100_000),
        drawn('<g xml:base="http://example.org/"/>'),
        drawn("<g/>", '<?xml-stylesheet href="http://example.org/a.css"?>'),
        drawn("<?php x ?>"),
        drawn("<text>&x;</text>", '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
        drawn("<g>"),
        b'<?xml version="1.0" encoding="UTF-7"?>' + drawn("<g/>"),
        drawn("<g/>").decode().encode("utf-16"),
        b"<html><body><svg></svg></body></html>",
        b'<svg width="30" height="20"></svg>',
    ],
    ids=lambda data: repr(data[:60]),
)
def test_a_drawing_that_could_do_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        inspect_image(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"plain words",
        b"%PDF-1.7",
        bitmap("PNG")[:60],
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"RIFF\x00\x00\x00\x00WAVEfmt ",
        bitmap("PNG", 40, 10),
        bitmap("PNG", 20_001, 30),
        bitmap("BMP"),
        b"\xff\xd8\xff" + b"\0" * (10 << 20),
    ],
    ids=lambda data: repr(data[:20]),
)
def test_what_is_no_sane_picture_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        inspect_image(data)


def test_a_picture_that_would_swell_in_memory_is_refused_by_its_head() -> None:
    head = bytearray(bitmap("PNG"))
    head[16:24] = (60_000).to_bytes(4, "big") * 2
    with pytest.raises(Unreadable):
        inspect_image(bytes(head))
