"""The prompts that ask for a page or one of its sections, in the languages that retain writes."""

from __future__ import annotations

_WHOLE = {"en": "Explain “{title}”.", "de": "Erkläre „{title}“.", "zh": "请解释“{title}”。"}
_SECTION = {
    "en": "Explain “{title}”: {heading}.",
    "de": "Erkläre „{title}“: {heading}.",
    "zh": "请解释“{title}”：{heading}。",
}
_ENDS = (".", "?", "!", "。", "？", "！", "…")


def page_prompt(title: str, heading: str, language: str) -> str:
    """Return the prompt for a section of a page, with heading "" for its lead or the whole.

    In a language without a wording of its own the title, and the heading after a colon, stand alone.
    """
    if not heading:
        return _WHOLE.get(language, "{title}").replace("{title}", title)
    words = _SECTION.get(language, "{title}: {heading}")
    if heading.endswith(_ENDS):
        words = words.rstrip(".。")
    before, _, after = words.partition("{heading}")
    return before.replace("{title}", title) + heading + after
