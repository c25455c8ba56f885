"""Words of a foreign card as inert Markdown: emphasis, code, math, lists, clozes and pictures stay, all else is shown
as the characters it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from learning.anki.html_to_markdown import markdown as html_to_markdown
from learning.formats.inert_markdown import JOINER, pieces
from vault.model.card import split_quote
from vault.model.cloze import DELETION, with_marks
from vault.text.formatting import clean

Embed = Callable[[str], str]  # the name of a picture or sound -> Markdown
_OURS = re.compile("[\ue000-\ue003⦃⦂⦄]")
_HELD = re.compile("\ue002(\\d{1,6})\ue003")
_MARK = re.compile(r"⦃([\d,]+)⦂")
_PIECES = re.compile(
    r"(?P<kept>^ {0,3}(?P<fence>`{3,}|~{3,})[\s\S]*?(?:^ {0,3}(?P=fence)|\Z)|`[^`\n]+`|\\[^\n])"
    r"|!\[\[(?P<embed>[^\[\]\n]+)\]\]"
    r"|!\[[^\]\n]{0,500}\]\((?:<(?P<angled>[^<>\n]+)>|(?P<image>[^()\s]+(?:\([^()\s]*\)[^()\s]*)*))(?:\s+\"[^\"\n]*\")?\)"
    r"|(?<![!\]])\[(?P<words>[^\[\]\n]+)\]\((?P<address>https?://[^()\s<>]{1,500})(?:\s+\"[^\"\n]*\")?\)"
    r"|<img\s(?:[^<>]*?\s)?src\s*=\s*[\"'](?P<source>[^\"'<>]+)[\"'][^<>]*>"
    r"|(?P<comment><!--[\s\S]{0,10000}?-->)|(?P<break><br\s*/?>)|</?(?P<tag>b|strong|i|em|u|span|div|p|font)(?:\s[^<>]{0,300})?>",
    re.MULTILINE | re.IGNORECASE,
)
_EMPHASIS = {"b": "**", "strong": "**", "i": "*", "em": "*", "div": "\n", "p": "\n"}


def to_markdown(text: str, embed: Embed, *, html: bool) -> str:
    """Return the words of a card's side, written in Markdown or HTML, as inert Markdown; `embed` gives the Markdown of
    each picture and sound.
    """
    source = with_marks(_OURS.sub("", clean(text).replace(JOINER, "")), "⦃{}⦂", "⦂⦂", "⦄")
    made = html_to_markdown(source, embed) if html else _from_markdown(source, embed)
    return _MARK.sub(r"{{c\1::", made).replace("⦂⦂", "::").replace("⦄", "}}").strip()


def without_quoted_deletions(text: str) -> str:
    """Return a cloze text whose last quote is plain lines where it hides words: a quote at the end of a block is a
    remark, which hides none.
    """
    words, extra = split_quote(text)
    if not DELETION.search(extra) and words.strip("> \n"):
        return text
    return words.removeprefix("> ") + "\n".join(re.sub(r"^(?:> ?)+", "", line) for line in extra.split("\n"))


def _from_markdown(text: str, embed: Embed) -> str:
    """Return foreign Markdown with nothing active but what `embed` returns."""
    held: list[str] = []

    def hold(piece: str) -> str:
        held.append(piece)
        return f"\ue002{len(held) - 1}\ue003"

    def found(m: re.Match[str]) -> str:
        if m["kept"]:
            return m[0]
        name = m["embed"] or m["angled"] or m["image"] or m["source"]
        if name:
            return hold(embed(name.split("|")[0].strip()))
        if m["address"]:
            return m["words"] if m["address"] in m["words"] else f"{m['words']} ({m['address']})"
        if m["break"]:
            return "\n"
        return "" if m["comment"] else _EMPHASIS.get((m["tag"] or "").lower(), "")

    inert = "\n".join(piece.text for piece in pieces(_PIECES.sub(found, text)))
    return _HELD.sub(lambda m: held[int(m[1])] if int(m[1]) < len(held) else "", inert)
