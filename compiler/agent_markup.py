"""HTML and SVG that an agent left: kept where every tag and attribute only shows, and nothing is fetched."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

from compiler.agent_addresses import Fault, address_fault, css_fault
from vault.clean import clean_line

ACTS = "a page that runs code or fetches something when it is opened"
_TAGS = frozenset(
    "html head title body meta style div span p br hr h1 h2 h3 h4 h5 h6 hgroup a img figure figcaption ul ol li dl dt"
    " dd table caption colgroup col thead tbody tfoot tr th td pre code kbd samp var blockquote q cite em strong b i u"
    " s strike del ins sub sup small big tt mark abbr dfn time section article header footer nav main aside address"
    " details summary ruby rt rp rb wbr center font bdi bdo meter progress label input"
    " math mi mn mo ms mtext mspace mrow mfrac msqrt mroot mstyle merror mpadded mphantom mfenced msub msup msubsup"
    " munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mlabeledtr menclose semantics annotation"
    " svg g defs symbol path rect circle ellipse line polyline polygon text tspan textpath desc metadata use clippath"
    " mask pattern lineargradient radialgradient stop marker image filter switch view feblend fecolormatrix"
    " fecomponenttransfer fecomposite feconvolvematrix fediffuselighting fedisplacementmap fedistantlight fedropshadow"
    " feflood fefunca fefuncb fefuncg fefuncr fegaussianblur femerge femergenode femorphology feoffset fepointlight"
    " fespecularlighting fespotlight fetile feturbulence".split()
)
_ATTRIBUTES = frozenset(
    "class id title lang dir alt width height colspan rowspan span scope headers abbr align valign border cellpadding"
    " cellspacing bgcolor color face size start type reversed value min max low high optimum datetime open name role"
    " tabindex hidden target rel loading decoding charset content http-equiv version viewbox preserveaspectratio style"
    " cite href src checked disabled for media nowrap noshade summary compact translate rules frame char charoff"
    " d x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy points transform rotate textlength lengthadjust pathlength offset"
    " fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-dasharray"
    " stroke-dashoffset stroke-miterlimit opacity visibility display overflow clip clip-path clip-rule mask filter"
    " marker marker-start marker-mid marker-end markerwidth markerheight markerunits refx refy orient"
    " gradientunits gradienttransform spreadmethod patternunits patterncontentunits patterntransform clippathunits"
    " maskunits maskcontentunits filterunits primitiveunits stop-color stop-opacity flood-color flood-opacity"
    " lighting-color color-interpolation color-interpolation-filters color-rendering image-rendering shape-rendering"
    " text-rendering vector-effect paint-order mix-blend-mode isolation pointer-events enable-background"
    " font font-family font-size font-style font-variant font-weight font-stretch font-size-adjust letter-spacing"
    " word-spacing text-anchor text-decoration dominant-baseline alignment-baseline baseline-shift writing-mode"
    " direction unicode-bidi white-space text-align line-height startoffset method spacing side baseprofile"
    " contentscripttype contentstyletype in in2 result operator k1 k2 k3 k4 stddeviation values mode radius scale"
    " surfacescale specularconstant specularexponent diffuseconstant azimuth elevation z pointsatx pointsaty pointsatz"
    " limitingconeangle basefrequency numoctaves seed stitchtiles tablevalues slope intercept amplitude exponent order"
    " kernelmatrix divisor bias targetx targety edgemode preservealpha xchannelselector ychannelselector"
    " mathvariant mathsize mathcolor mathbackground displaystyle scriptlevel stretchy symmetric maxsize minsize lspace"
    " rspace fence separator separators accent accentunder movablelimits linethickness numalign denomalign bevelled"
    " columnalign rowalign columnspacing rowspacing columnlines rowlines equalrows equalcolumns notation depth voffset"
    " encoding form largeop subscriptshift superscriptshift columnspan".split()
)
_SPACES = {  # what a prefix stands for, or a page's own names
    "": ("http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"),
    "svg": ("http://www.w3.org/2000/svg",),
    "xlink": ("http://www.w3.org/1999/xlink",),
    "rdf": ("http://www.w3.org/1999/02/22-rdf-syntax-ns#",),
    "dc": ("http://purl.org/dc/elements/1.1/",),
    "cc": ("http://creativecommons.org/ns#", "http://web.resource.org/cc/"),
    "inkscape": ("http://www.inkscape.org/namespaces/inkscape",),
    "sodipodi": ("http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd",),
}
_TOLD = ("rdf:", "dc:", "cc:", "inkscape:", "sodipodi:")  # of what a program notes about its own figure
_XLINK = frozenset({"xlink:type", "xlink:title", "xlink:show", "xlink:role"})
_META = re.compile(
    r"viewport|generator|author|description|keywords|date|title|subject|language|color-scheme|theme-color|dc(?:terms)?\..*"
)
_VALUE = r"(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`/]+)"
_OPENING = re.compile(rf"<[A-Za-z][\w:.-]*+(?:\s++[A-Za-z_][\w:.-]*+(?:\s*+=\s*+{_VALUE})?+)*+\s*+/?>")
_CLOSING = re.compile(r"</[A-Za-z][\w:.-]*+\s*+>")
_COMMENT = re.compile(r"<!--(?![->])(?:[^<>-]|-(?!-))*+-->")
_DECLARED = re.compile(
    r"(?i)<!doctype\s+(?:html|svg)(?:\s+(?:public\s+\"[^\"<>]*\"(?:\s*\"[^\"<>]*\")?|system\s+\"[^\"<>]*\"))?\s*>"
)
_XML = re.compile(r"<\?xml\s(?:[^<>?]*\?)>")
_ENCODING = re.compile(r"(?i)encoding\s*=\s*[\"'](?!utf-?8[\"']|us-ascii[\"'])")
_DATA = re.compile(r"<!\[CDATA\[([^<\]]*)\]\]>")
_TEXT = re.compile(r"[^<]+|<(?=[\s\d=])")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_HANDLER = re.compile(r"(?i)\bon[a-z]{3,}\s*=|(?:java|vb)script\s*:")


def markup_fault(text: str, suffix: str, depth: int) -> Fault | None:
    """The first thing in a page or a figure that does more than show; None if nothing does."""
    text = text.removeprefix("\ufeff")
    if (odd := _ODD.search(text)) is not None:
        return text.count("\n", 0, odd.start()) + 1, "control characters"
    if (fault := _shape_fault(text, suffix)) is not None:
        return fault
    free = suffix == "xml" and "xmlns" not in text.casefold()  # names of nobody's, that no program knows
    parser = _Parser(depth, free)
    try:
        parser.feed(text)
        parser.close()
    except (AssertionError, ValueError, RecursionError):
        return 0, f"{ACTS}: it is not to be understood"
    return parser.fault


def _shape_fault(text: str, suffix: str) -> Fault | None:
    """What is not so plainly written that every parser takes it for the same.

    A browser mends what is broken, each in its own way, and what it makes of it need not be what we have judged.
    """
    at = 0
    while at < len(text):
        patterns = (_TEXT, _OPENING, _CLOSING, _COMMENT, _DECLARED, *((_XML,) if at == 0 else ()), _DATA)
        found = next((f for p in patterns if (f := p.match(text, at)) is not None), None)
        what = re.sub(r"\s+", " ", text[at : at + 40])
        if found is None or (found.re is _DATA and suffix not in ("svg", "xml")):
            why = f"{ACTS}, or is not written plainly: {clean_line(what)}"
            return text.count("\n", 0, at) + 1, why
        if found.re is _XML and _ENCODING.search(found[0]):
            return 1, "an encoding that is not UTF-8"
        at = found.end()
    return None


class _Parser(HTMLParser):
    """Judges each tag; its first fault is kept."""

    def __init__(self, depth: int, free: bool) -> None:
        super().__init__(convert_charrefs=False)
        self.depth, self.free = depth, free
        self.fault: Fault | None = None
        self.style: list[str] | None = None
        self.title = False

    def _refuse(self, why: str) -> None:
        self.fault = self.fault or (self.getpos()[0], f"{ACTS}: {clean_line(why)[:120]}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = tag.removeprefix("svg:")
        if self.fault is not None:
            return
        if self.title or self.style is not None:
            self._refuse(f"<{tag}> in a title or a style")
        elif not (name in _TAGS or tag.startswith(_TOLD) or self.free):
            self._refuse(f"<{tag}>")
        held = dict(attrs)
        if len(held) != len(attrs):
            self._refuse(f"an attribute that <{tag}> has twice")
        for key, value in attrs:
            if why := self._attribute(name, key, value or ""):
                self._refuse(f"<{tag} {key}>{why}")
        if name == "meta" and (why := _meta(held)):
            self._refuse(why)
        if name == "input" and (held.get("type") or "").casefold() != "checkbox":
            self._refuse("<input>")
        self.title = name == "title"
        self.style = [] if name == "style" else None

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "title"):  # empty in XML, and open in HTML
            self._refuse(f"<{tag}/>")
        self.handle_starttag(tag, attrs)
        self.title, self.style = False, None

    def handle_endtag(self, tag: str) -> None:
        if self.style is not None:
            css = _DATA.sub(r"\1", "".join(self.style))
            if why := css_fault(html.unescape(css)) or css_fault(css):
                self._refuse(why)
        self.title, self.style = False, None

    def handle_data(self, data: str) -> None:
        if self.style is not None:
            self.style.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        if self.title or self.style is not None:
            self._refuse("a comment in a title or a style")

    def unknown_decl(self, data: str) -> None:
        if self.style is not None and data.startswith("CDATA["):
            self.handle_data(data[len("CDATA[") :])
        else:
            self._refuse("<![CDATA[ outside a style")

    def close(self) -> None:
        super().close()
        if self.style is not None or self.title:
            self._refuse("a title or a style without an end")

    def _attribute(self, tag: str, key: str, value: str) -> str:
        """Why an attribute may not stand; "" if it may."""
        if key == "xmlns" or key.startswith("xmlns:"):
            known = _SPACES.get(key.partition(":")[2], ())
            return "" if value in known else " a name space that is not known"
        if _HANDLER.search(value) or _HANDLER.search(html.unescape(value)):
            return " code"
        if key in ("href", "xlink:href", "src", "cite"):
            return self._address(tag, key, value.strip())
        if key.startswith("on") and len(key) > 4:
            return " code"
        if tag.startswith(_TOLD) or key.startswith(_TOLD):
            return ""
        if key.startswith(("aria-", "data-")) or key in _XLINK or key in ("xml:space", "xml:lang", "xml:id"):
            return ""
        if key not in _ATTRIBUTES and not (self.free and ":" not in key):
            return " which is not known"
        if key in ("style", "fill", "stroke", "filter", "mask", "cursor") or "(" in value or "\\" in value:
            words = key in ("title", "alt", "content", "summary", "abbr", "value", "transform")
            fault = "" if words else css_fault(value) or css_fault(html.unescape(value))
            return f": {fault}" if fault else ""
        return ""

    def _address(self, tag: str, key: str, value: str) -> str:
        if value.startswith("#") and key != "src":
            return ""
        if key == "src" and tag != "img":
            return " fetches"
        if key.endswith("href") and tag not in ("a", "image"):
            return " fetches"
        picture = tag in ("img", "image")
        why = address_fault(value, picture=picture, depth=self.depth)
        return f": {why}" if why else ""


def _meta(held: dict[str, str | None]) -> str:
    """Why a <meta> may not stand; "" if it only tells about the page."""
    content = (held.get("content") or "").strip().casefold()
    charset = held.get("charset")
    if charset is not None and charset.strip().casefold() not in ("utf-8", "utf8"):
        return "<meta charset>"
    if "http-equiv" in held:
        kind = (held["http-equiv"] or "").strip().casefold()
        plain = (kind == "content-type" and re.fullmatch(r"text/html;\s*charset=utf-8", content)) or (
            kind in ("x-ua-compatible", "content-language", "content-style-type")
            and re.fullmatch(r"[\w/=,. -]*", content)
        )
        return "" if plain else "<meta http-equiv>"
    name = (held.get("name") or "").strip().casefold()
    return "" if charset is not None or _META.fullmatch(name) else "<meta name>"
