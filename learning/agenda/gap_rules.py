"""What keeps being forgotten, its likely cause and what to do: rules over the numbers that they name.

A concept is in trouble if, within WINDOW study days of the last event, its cards were not recalled MANY times or more,
and twice as often as the wanted retention allows; or if one of its cards is a leech and was forgotten again. One of
those times must lie within the last RECENT days, or it is over. The likely cause is that of the first rule that holds,
from what is surest to what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from vault.ids import CardId, GapId, mint
from vault.model.gaps import UNDEFINED, Gap, GapKind
from vault.text.formatting import plural

WINDOW = 90  # study days
RECENT = 30
MANY = 3  # times forgotten, from which on it is no accident
ENOUGH = 3  # tries of the other cards, from which on they are known to be fine
LONG_WORDS = 60  # of an answer, more than one card should ask for
FEW_SENTENCES = 2  # of an article, which is then too short
SPARSE_SENTENCES = 4  # of an article of low confidence, which is then too short, too
# The beginnings of a gap that leaves a concept to be learned by rote, now and before version 2.7.0.
_BASIC_LACKS = (UNDEFINED, "nothing says what it is")


class Cause(StrEnum):
    """The likely cause of forgetting."""

    BAD_CARD = "bad card"
    MISSING_SOURCE = "missing source"
    SHORT_ARTICLE = "short article"
    LAPSE = "lapse"  # the learner's own forgetting: nothing else is wrong


@dataclass(frozen=True, slots=True)
class Trial:
    """A review that tested the card, at Unix milliseconds; `predicted` is the probability of recall.

    `recent` says whether it lies within the last RECENT study days.
    """

    at_ms: int
    recalled: bool
    predicted: float
    recent: bool = True


@dataclass(frozen=True, slots=True)
class Twin:
    """Another card whose question or answer (`part`) is nearly the same; `link` leads to its deck."""

    card: CardId
    title: str
    part: str
    link: str


@dataclass(frozen=True, slots=True)
class CardRecord:
    """A card of a concept and its trials within the window. `words` are of its answer."""

    card: CardId
    trials: tuple[Trial, ...] = ()
    words: int = 0
    leech: bool = False
    flagged: bool = False
    reason: str = ""  # of the flag
    twin: Twin | None = None

    @property
    def forgotten(self) -> int:
        """Return how many of the trials failed."""
        return sum(not trial.recalled for trial in self.trials)

    @property
    def predicted(self) -> float:
        """Return how many of the trials were predicted to fail."""
        return sum(1.0 - trial.predicted for trial in self.trials)

    @property
    def excess(self) -> float:
        """Return how many more trials failed than predicted."""
        return self.forgotten - self.predicted


@dataclass(frozen=True, slots=True)
class Need:
    """A concept that this one needs: its cards, how many of them are known, whether it has an article."""

    title: str
    link: str
    has_article: bool
    cards: int
    known: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A concept with all that the rules look at.

    `unexplained` are names on which its article leans and which no source explains, `lacks` what is missing on the
    concept itself and what would fill that. `sentences` and `sources` are of its article: 0 without one, None where it
    cannot be read.
    """

    concept: str
    title: str
    link: str
    cards: tuple[CardRecord, ...]
    wanted: float = 0.9
    has_article: bool = True
    sentences: int | None = 0
    sources: int = 0
    confidence: str = ""
    needs: tuple[Need, ...] = ()
    unexplained: tuple[str, ...] = ()
    lacks: tuple[tuple[str, str], ...] = ()

    @property
    def trials(self) -> list[Trial]:
        """Return the trials of all its cards."""
        return [trial for card in self.cards for trial in card.trials]

    @property
    def forgotten(self) -> int:
        """Return how many of its trials failed."""
        return sum(card.forgotten for card in self.cards)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The likely cause in one word, why it is likely (with the numbers), what to do; `links` to what that names."""

    cause: Cause
    why: str
    todo: str
    links: tuple[str, ...] = field(default=())


def is_in_trouble(subject: Subject) -> bool:
    """Return whether a concept was forgotten so often that it belongs on the agenda."""
    tries, forgotten = len(subject.trials), subject.forgotten
    if not any(trial.recent and not trial.recalled for trial in subject.trials):
        return False
    if any(card.leech and card.forgotten for card in subject.cards):
        return True
    return forgotten >= MANY and forgotten >= 2 * (1.0 - subject.wanted) * tries


def diagnose(subject: Subject) -> Diagnosis:
    """Return the likely cause by the first rule that applies."""
    worst = max(subject.cards, key=lambda card: (card.forgotten, card.excess, card.card))
    for rule in (_bad_card, _missing_source, _short_article, _rote):
        found = rule(subject, worst)
        if found is not None:
            return found
    return _lapse(subject, worst)


def _times(card: CardRecord) -> str:
    """Return how often a card was forgotten, in words."""
    leech = ", a leech," if card.leech else ""
    return f"card {card.card}{leech} was forgotten {card.forgotten} of {len(card.trials)} times"


def _bad_card(subject: Subject, worst: CardRecord) -> Diagnosis | None:
    """Return the diagnosis of a card that is at fault itself; None if none is."""
    flagged = next((card for card in subject.cards if card.flagged and card.forgotten), None)
    if flagged is not None:
        said = f" ({flagged.reason})" if flagged.reason else ""
        todo = f"edit card {flagged.card}, or suspend it"
        return Diagnosis(Cause.BAD_CARD, f"you flagged card {flagged.card}{said}, and {_times(flagged)}", todo)
    if worst.twin is not None:
        twin = worst.twin
        why = f"{_times(worst)}, and its {twin.part} is almost the same as that of card {twin.card} ({twin.title})"
        todo = f"make clear in both how they differ, or suspend one: {worst.card}, {twin.card}"
        return Diagnosis(Cause.BAD_CARD, why, todo, (twin.link,))
    if worst.words > LONG_WORDS:
        why = f"{_times(worst)}, and its answer is {worst.words} words long"
        return Diagnosis(Cause.BAD_CARD, why, f"split card {worst.card} so that each card asks for one thing")
    return _stands_out(subject, worst)


def _stands_out(subject: Subject, worst: CardRecord) -> Diagnosis | None:
    """Return the diagnosis of a card that fails far more than predicted while the concept's others do not."""
    if worst.excess < 2 or worst.forgotten < 2 * worst.predicted:
        return None
    others = [trial for card in subject.cards if card.card != worst.card for trial in card.trials]
    recalled = sum(trial.recalled for trial in others)
    if len(others) < ENOUGH or recalled < (subject.wanted - 0.05) * len(others):
        return None
    why = (
        f"{_times(worst)} ({worst.predicted:.1f} predicted),"
        f" while the concept's other cards were recalled {recalled} of {len(others)} times"
    )
    return Diagnosis(Cause.BAD_CARD, why, f"reword card {worst.card} so that it has one right answer, or suspend it")


def _missing_source(subject: Subject, worst: CardRecord) -> Diagnosis | None:
    """Return the diagnosis of a concept without article or source; None if it has them."""
    if not subject.has_article:
        todo = f"add a source about {subject.title}, or say on the card where the fact comes from"
        return Diagnosis(Cause.MISSING_SOURCE, f"{_times(worst)}, and the wiki has no article on it", todo)
    for need in subject.needs:
        if not need.has_article:
            why = f"it builds on {need.title}, which has no article"
            return Diagnosis(Cause.MISSING_SOURCE, why, f"add a source that explains {need.title}")
    if subject.unexplained:
        name, more = subject.unexplained[0], len(subject.unexplained) - 1
        why = f"its article relies on {name}{f' and {more} more' if more else ''}, which no source explains"
        return Diagnosis(Cause.MISSING_SOURCE, why, f"add a source that explains {name}")
    return None


def _short_article(subject: Subject, _: CardRecord) -> Diagnosis | None:
    """Return the diagnosis of a concept whose article says little; None if it says enough."""
    least = SPARSE_SENTENCES if subject.confidence in ("low", "speculative") else FEW_SENTENCES
    if subject.sentences is None or subject.sentences > least:
        return None
    sure = f", with {subject.confidence} confidence" if subject.confidence else ""
    why = f"its article has {plural(subject.sentences, 'sentence')} from {plural(subject.sources, 'source')}{sure}"
    return Diagnosis(Cause.SHORT_ARTICLE, why, f"add a second source that says more about {subject.title}")


def _rote(subject: Subject, _: CardRecord) -> Diagnosis | None:
    """Return the diagnosis of a concept of which nothing says what it is or how it works; None if something does."""
    for missing, fill in subject.lacks:
        if missing.startswith(_BASIC_LACKS):
            why = "no sentence says what it is, so you are learning it by rote"
            return Diagnosis(Cause.MISSING_SOURCE, why, f"add {fill}")
    return None


def _lapse(subject: Subject, worst: CardRecord) -> Diagnosis:
    """Return the diagnosis of a concept without another cause."""
    said = "its article cannot be read"
    if subject.sentences is not None:
        said = f"its article has {plural(subject.sentences, 'sentence')} from {plural(subject.sources, 'source')}"
    weak = min(subject.needs, key=lambda need: (need.known / max(need.cards, 1), need.title), default=None)
    if weak is not None and weak.cards and weak.known < weak.cards:
        known = f"{weak.known} of the {weak.cards} cards on {weak.title}"
        why = f"{said}, but you know only {known}, which it builds on"
        return Diagnosis(Cause.LAPSE, why, f"learn {weak.title} first, then reread the article", (weak.link,))
    why = f"{_times(worst)} ({worst.predicted:.1f} predicted); its cards are fine, but {said}"
    return Diagnosis(Cause.LAPSE, why, "reread its article, then explain it in your own words")


_SAID = "likely a {}: "
_FORMER_CAUSES = {"thin article": Cause.SHORT_ARTICLE}  # in gaps that earlier versions wrote


def gap_id(concept: str) -> GapId:
    """Return the id of a concept's learner gap: a concept has one, and it stays."""
    return GapId(mint("gap", f"{GapKind.LEARNER}:{concept}"))


def as_gap(subject: Subject) -> Gap:
    """Return the gap of a concept in trouble, with its likely cause."""
    found = diagnose(subject)
    times = f"forgotten {subject.forgotten} of {len(subject.trials)} times in {WINDOW} days"
    missing = f"{times}; {_SAID.format(found.cause)}{found.why}"
    links = tuple(dict.fromkeys((subject.link, *found.links)))
    return Gap(gap_id(subject.concept), GapKind.LEARNER, subject.title, missing, found.todo, links)


def cause_of(gap: Gap) -> str:
    """Return the likely cause that a learner gap names; "" where it names none."""
    named = {cause.value: cause for cause in Cause} | _FORMER_CAUSES
    return next((cause.value for name, cause in named.items() if _SAID.format(name) in gap.missing), "")


def most_pressing(subjects: Sequence[Subject]) -> list[Subject]:
    """Return the subjects in the order of the agenda: by how often they were forgotten, then by the share."""
    share: Callable[[Subject], float] = lambda s: s.forgotten / max(len(s.trials), 1)  # noqa: E731
    return sorted(subjects, key=lambda s: (-s.forgotten, -share(s), s.title.casefold(), s.concept))
