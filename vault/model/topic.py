"""Topic articles: their concepts and relations, disagreements of sources, open questions; all of it cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault.model.article import CitedSentence, render_sentence
from vault.model.markdown import escape
from vault.text.formatting import clean_line

_WORDS = {
    "en": ("Concepts", "How the concepts relate", "Where sources disagree", "Open questions"),
    "de": (
        "Begriffe",
        "Wie die Begriffe zusammenhängen",
        "Wo Quellen einander widersprechen",
        "Offene Fragen",
    ),
    "zh": ("相关概念", "概念之间的关系", "来源之间的分歧", "未决问题"),
}


def disagreement_heading(language: str) -> str:
    """Return the heading of the section on disagreements, in this language."""
    return _WORDS.get(language, _WORDS["en"])[2]


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two contradictory sentences, the weightier first; `verdict` says why, or that neither weighs more."""

    verdict: str
    first: CitedSentence
    second: CitedSentence


@dataclass(frozen=True, slots=True)
class TopicBody:
    """The content of a topic's file.

    `members` are links to concepts, each with the sentence that says what it is, or None where that stands at another;
    `relations` are paragraphs; `questions` are links to gaps.
    """

    title: str
    language: str
    members: Sequence[tuple[str, CitedSentence | None]]
    relations: Sequence[Sequence[CitedSentence]] = ()
    disputes: Sequence[Dispute] = ()
    questions: Sequence[str] = ()


def render_topic(topic: TopicBody) -> str:
    """Return the body of a topic's file; all but cited sentences are headings and links, which assert nothing."""
    together, relate, disagree, questions = _WORDS.get(topic.language, _WORDS["en"])
    parts = [f"# {escape(clean_line(topic.title))}", f"## {together}"]
    parts += [
        f"- {link}\n  {render_sentence(said)}" if said is not None else f"- {link}" for link, said in topic.members
    ]
    if topic.relations:
        parts.append(f"## {relate}")
        parts += [" ".join(map(render_sentence, paragraph)) for paragraph in topic.relations]
    if topic.disputes:
        parts.append(f"## {disagree}")
        for dispute in topic.disputes:
            parts += [
                f"### {escape(clean_line(dispute.verdict))}",
                render_sentence(dispute.first),
                render_sentence(dispute.second),
            ]
    if topic.questions:
        parts += [f"## {questions}", "\n".join(f"- {link}" for link in topic.questions)]
    return "\n" + "\n\n".join(parts) + "\n"
