"""Where an address in an agent's Markdown leads, once everything that hides it is decoded."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

MAX_ADDRESS = 4_000  # characters
_ROUNDS = 5  # an address that still changes after so many decodings hides something
_UNSEEN = re.compile(  # what a browser drops from an address, or a screen does not show
    "[\x00-\x20\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_WEB = re.compile(r"https?://[^/]|mailto:", re.IGNORECASE)
_PROGRAM = re.compile(  # files that run when somebody opens them
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
_TARGET = re.compile(r"\]\([\s<>*+-]*([^\s<>)]{1,200})")


def address_fault(address: str, *, picture: bool = False, depth: int = 0) -> str:
    """Return why a link may not lead there, or a picture not come from there; "" if it may.

    Links lead to the web, to a mailbox, or to a file of the vault; pictures come from the vault. `depth` is how many
    folders below the vault's root the page is.
    """
    if len(address) > MAX_ADDRESS:
        return f"an address of more than {MAX_ADDRESS} characters"
    decoded = _decoded(address.strip(" \t\n"))
    if decoded is None:
        return "an address that is encoded several times"
    if _WEB.match(decoded[0]):  # what is encoded behind the host doesn't change where it leads
        if picture:
            return "only pictures in the vault are allowed"
        hidden = _UNSEEN.search(decoded[0].partition("?")[0]) or "\\" in decoded[0]
        return "it contains hidden characters" if hidden else ""
    return next((why for form in decoded if (why := _relative_fault(form, depth))), "")


def _decoded(address: str) -> list[str] | None:
    """Return the address, and its form after each decoding; None if decoding doesn't end."""
    forms = [address]
    for _ in range(_ROUNDS):
        decoded = unquote(html.unescape(forms[-1]), errors="replace")
        if decoded == forms[-1]:
            return forms
        forms.append(decoded)
    return None


def _relative_fault(form: str, depth: int) -> str:
    """Return why one form of an address is not that of a file inside the vault."""
    if any(ord(c) < 32 or ord(c) == 127 for c in form) or "\ufffd" in form:
        return "it contains control characters"
    bare = _UNSEEN.sub("", form).replace("\\", "/")
    scheme = re.split(r"[/?#]", bare, maxsplit=1)[0]
    if ":" in scheme:
        return f"it opens a program ({scheme.partition(':')[0][:20]}:)"
    path = re.split(r"[?#]", bare, maxsplit=1)[0]
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0 or bare.startswith("/"):
            return "it points outside the vault"
    return "it opens a program" if _PROGRAM.search(path) else ""


def hidden_address(words: str, depth: int = 0) -> tuple[int, str] | None:
    """Return (offset, why) of an address in decoded words that a program would open; None if there is none."""
    for target in _TARGET.finditer(words):
        if why := address_fault(target[1], depth=depth):
            return target.start(), f"a link with active content: {why}"
    for slashes in _SLASHES.finditer(words):
        first = max(0, slashes.start() - 64)
        scheme = _SCHEME.search(words[first : slashes.start()])
        if scheme is not None and scheme[0].casefold() not in ("http", "https"):
            return first + scheme.start(), "an address that would open a program"
    known = _KNOWN.search(words)
    return (known.start(), "an address that would open a program") if known is not None else None
