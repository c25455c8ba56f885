"""Where an address of an agent's leads, once all that hides it is decoded: the one rule for Markdown, HTML and CSS."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

Fault = tuple[int, str]  # 1-based line, why

MAX_ADDRESS = 4_000  # characters
_ROUNDS = 5  # an address that is still another one after so many decodings hides something
_UNSEEN = re.compile(  # what a browser drops from an address, or a screen does not show
    "[\x00-\x20\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WEB = re.compile(r"https?://[^/]", re.IGNORECASE)
_MAIL = re.compile(r"mailto:", re.IGNORECASE)
_STARTED = re.compile(  # files that are programs to somebody who opens them
    r"\.(?:app|bat|cmd|command|desktop|exe|fileloc|hta|inetloc|jar|lnk|msi|pif|ps1|scpt|scr|terminal|url|vbs|webloc"
    r"|workflow)$",
    re.IGNORECASE,
)
_SLASHES = re.compile(r":[/\\]{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_KNOWN = re.compile(
    r"(?i)(?<![a-z0-9+.-])(?:javascript|vbscript|livescript|obsidian|shell|vscode(?:-insiders)?|jetbrains|view-source"
    r"|ms-[a-z]{2,20}|search-ms|vnd\.[a-z.]{2,30}|x-apple[a-z.-]{0,30}|itms-[a-z]{1,20}|logseq|zotero|file(?=:/)"
    r"|data(?=:[a-z]{1,20}/)):(?=\S)"
)
_LED = re.compile(r"\](?:\(|:)")
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})(?:\r\n|[ \t\r\n\f])?|(\r\n|[\r\n\f])|(.))", re.DOTALL)
_CSS_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+\*/")
_CSS_FETCHES = re.compile(
    r"@(?:import|charset|namespace|font-face|document)|(?:image|image-set|src|cross-fade|element|expression|paint)\("
    r"|-moz-binding|(?<!-)behavior:|(?:java|vb)script:|://|[\"'(,:=]//|[<\\]"
)
_CSS_URL = re.compile(r"url(?:-prefix)?\\?\(")
_CSS_OWN = re.compile(r"url\(([\"']?)#[\w.:-]+\1\)")


def forms(address: str) -> list[str] | None:
    """The address, and what it is after each decoding of references and percent; None if it never comes to an end."""
    found = [address]
    for _ in range(_ROUNDS):
        now = html.unescape(found[-1])
        now = unquote(now, errors="replace")
        if now == found[-1]:
            return found
        found.append(now)
    return None


def address_fault(address: str, *, picture: bool = False, depth: int | None = None) -> str:
    """Why a link may not lead there, or a picture not come from there; "" if it may.

    Links go to the web, to a mailbox, or to a file of the vault; pictures come from the vault. `depth` is how many
    folders of the vault the page lies in; None if the address does not begin at the page.
    """
    if len(address) > MAX_ADDRESS:
        return f"an address of more than {MAX_ADDRESS} characters"
    found = forms(address.strip(" \t\n"))
    if found is None:
        return "an address that is encoded over and over"
    if _WEB.match(found[0]) or _MAIL.match(found[0]):  # what is encoded behind it changes nothing of where it leads
        unseen = _UNSEEN.search(found[0].partition("?")[0]) or "\\" in found[0]
        return "pictures come from the vault" if picture else "hidden characters in it" if unseen else ""
    return next((why for form in found if (why := _relative_fault(form, depth))), "")


def _relative_fault(form: str, depth: int | None) -> str:
    """Why one form of an address is not that of a file inside the vault."""
    bare = _UNSEEN.sub("", form).replace("\\", "/")
    if any(ord(c) < 32 or ord(c) == 127 for c in form) or "\ufffd" in form:
        return "control characters in it"
    if bare.startswith("/"):
        return "it leads out of the vault"
    before = re.split(r"[/?#]", bare, maxsplit=1)[0]
    if ":" in before:
        return f"it leads to a program ({before.partition(':')[0][:20]}:)"
    path = re.split(r"[?#]", bare, maxsplit=1)[0]
    here = depth or 0
    for part in path.split("/"):
        here += -1 if part == ".." else part not in ("", ".")
        if here < 0:
            return "it leads out of the vault"
    if _STARTED.search(path):
        return "it leads to a program"
    return ""


def plain_words(words: str) -> str:
    """Words of Markdown with their escapes and references decoded."""
    return html.unescape(_ESCAPE.sub(r"\1", html.unescape(words)))


def hidden_address(words: str) -> tuple[int, str] | None:
    """(where, why) of the first address in decoded words that a program would open, wherever it stands in them."""
    for found in _LED.finditer(words):
        after = words[found.end() : found.end() + 200].lstrip(" \t\n>*+-")
        if ":" not in after and "%" not in after and "&" not in after:
            continue
        target = re.split(r"[\s>)\]]", after.removeprefix("<"), maxsplit=1)[0]
        shown = forms(target[:100])
        for form in shown or ["?:"]:
            bare = _UNSEEN.sub("", form).replace("\\", "/")
            before = re.split(r"[/?#]", bare, maxsplit=1)[0]
            if ":" in before and not (_WEB.match(bare) or _MAIL.match(bare) or _is_footnote(words, found)):
                return found.start(), "a link that acts"
    for found in _SLASHES.finditer(words):
        scheme = _SCHEME.search(words[max(0, found.start() - 64) : found.start()])
        if scheme is not None and scheme[0].casefold() not in ("http", "https"):
            return scheme.start() + max(0, found.start() - 64), "an address that a program would open"
    known = _KNOWN.search(words)
    return (known.start(), "an address that a program would open") if known is not None else None


def _is_footnote(words: str, found: re.Match[str]) -> bool:
    """Whether `]:` ends the mark of a footnote, or stands among words: it defines no address there."""
    if found[0] != "]:":
        return False
    first = max(0, found.start() - 1_000)  # no label is longer
    opened = words.rfind("[", first, found.start())
    line = words[max(first, words.rfind("\n", first, found.start()) + 1) : max(opened, 0)]
    return words[opened + 1 : opened + 2] == "^" or line.strip(" \t>*+-.)0123456789") != ""


def css_fault(css: str) -> str:
    """Why a style may not stand: it fetches something, or is not to be understood; "" if it may."""
    bare = _CSS_COMMENT.sub("", css)
    if "/*" in bare:
        return "a style with an open comment"
    for text in (css, bare):  # inside an address there are no comments
        plain = _css_plain(text)
        if len(_CSS_URL.findall(plain)) != len(_CSS_OWN.findall(plain)):
            return "a style that fetches something"
    return "a style that fetches something" if _CSS_FETCHES.search(_css_plain(bare)) else ""


def _css_plain(css: str) -> str:
    return re.sub(r"[\s\x00]+", "", _css_decoded(css)).casefold()


def _css_decoded(css: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1]:
            code = int(found[1], 16)
            return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
        return "" if found[2] else found[3]

    return _CSS_ESCAPE.sub(one, css)
