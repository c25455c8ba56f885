"""Names that documents lean on: what is taken for one, which of them nobody explains, how they are shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.build.compile import Options, compile_vault
from compiler.concepts.evidence import SourceClaims
from compiler.concepts.resolve import Resolution, resolve
from compiler.engines.extractive import ExtractiveEngine
from compiler.engines.extractive.borrowed import borrowed_terms
from compiler.language.mentions import explains, first_mention
from compiler.model.requests import ExtractRequest, Span, Term
from learning.agenda.gap_decisions import Decision, decide
from vault.ids import SourceId
from vault.layout import CONCEPTS, GAPS, READING_LIST
from vault.log.ledger import Ids
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda
from vault.model.reading_list import parse_reading_list
from vault.vault import Vault

MORNING = datetime(2026, 11, 21, 9, tzinfo=UTC)
SURVEY = """# Moving heat

Heat pumps warm houses by moving heat from the ground. Newer designs, such as ThermaCore (Hill et al. 2019) and
FrostLoop (Brook 2021), need less power. The pipes are laid by trench drilling (Stone et al. 2018).

## References

Brook, Ada. A loop for cold soils. Journal of Heat, 2021. https://example.org/frostloop
"""


def terms(
    text: str, *, language: str = "en", headings: tuple[str, ...] = (), marks: tuple[Span, ...] = ()
) -> list[tuple[str, str]]:
    request = ExtractRequest(title="Notes", language=language, headings=headings, text=text, marks=marks)
    return [(t.name, t.signal) for t in borrowed_terms(request)]


def cited(text: str, marks: tuple[Span, ...] = ()) -> list[str]:
    return [name for name, signal in terms(text, marks=marks) if signal == "cited"]


def span(text: str, words: str, kind: str, leads: str = "") -> Span:
    start = text.index(words)
    return Span.model_validate({"kind": kind, "start": start, "end": start + len(words), "leads": leads})


def lacking(*sources: tuple[str, ...] | list[Term]) -> dict[str, str]:
    """What resolve finds unexplained in sources that only offer terms: plain words are "named"."""
    made = [
        SourceClaims(SourceId(f"s{n}"), "", "en", (), tuple(_term(t) for t in source))
        for n, source in enumerate(sources)
    ]
    return _resolved(made).unexplained


def _term(given: str | Term) -> Term:
    return given if isinstance(given, Term) else Term(name=given, signal="named")


def _resolved(sources: list[SourceClaims]) -> Resolution:
    return resolve(sources, Ids(), "2026-11-21T09:00:00Z")


# --- what is borrowed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Cold houses use FrostLoop (Brook et al., 2021) in winter.", "FrostLoop"),
        ("It was first done with Boreas [12], in the north.", "Boreas"),
        ("It was first done with the Boreas algorithm [3, 4].", "Boreas"),
        ("We follow Deep Soil Heating [@brook2021, p. 4] here.", "Deep Soil Heating"),
        ("The pipes are laid by trench drilling (Stone 2018).", "trench drilling"),
        ("We use the slope stabilization method (Stone 2018).", "slope stabilization"),
        ("They train with Ground Reward Shaping (GRS) (Hill et al. 2019).", "Ground Reward Shaping"),
        ("Others are SoilNet Hill, Brook, et al. 2020, and more.", "SoilNet"),
    ],
)
def test_a_name_right_before_a_citation_is_borrowed(sentence: str, name: str) -> None:
    assert cited(sentence) == [name]


def test_a_citation_that_the_reader_took_out_of_the_text_counts_as_one() -> None:
    text = "This happens in the style of mirror networks. Others differ."
    assert cited(text, marks=(Span(kind="citation", start=43, end=44),)) == ["mirror networks"]


@pytest.mark.parametrize(
    "sentence",
    [
        "Hill & Brook [5] disagree.",
        "Running [3] is healthy.",
        "The authors met in Norway [4] and at Harvard [7].",
        "Many recent approaches (Hill 2019) do so, and other authors (Brook 2020), too.",
        "See `FrostLoop` (Brook 2021).",
        "The paper was written by Ada Lovelace [1].",
        "The file setup.py [2] is read.",
    ],
)
def test_people_places_generic_words_and_code_are_not_borrowed(sentence: str) -> None:
    marks = (span(sentence, "`FrostLoop`", "code"),) if "`" in sentence else ()
    assert cited(sentence, marks=marks) == []


def test_a_link_out_of_the_document_borrows_the_name_it_shows() -> None:
    text = "See the FrostLoop repository, Boreas's Zephyr Series, the manual, and ThermaCore below."
    marks = (
        span(text, "FrostLoop repository", "link", "web"),
        span(text, "Boreas's Zephyr Series", "link", "web"),
        span(text, "the manual", "link", "web"),
        span(text, "ThermaCore", "link"),
    )
    assert cited(text, marks=marks) == ["FrostLoop", "Zephyr"]


def test_a_link_to_a_note_by_its_name_asks_for_that_note() -> None:
    text = "This rests on thermal mass and on more."
    assert cited(text, marks=(span(text, "thermal mass", "link", "note"),)) == ["thermal mass"]


def test_names_by_their_letters_and_in_lists_of_names_are_named_each_time() -> None:
    found = terms("A FrostLoop is near a FrostLoop. There are designs such as Boreas, Zephyr and Notus.")
    assert found == [
        ("FrostLoop", "named"),
        ("FrostLoop", "named"),
        *((n, "named") for n in "Boreas Zephyr Notus".split()),
    ]


def test_nothing_is_borrowed_from_references_and_thanks() -> None:
    text = "FrostLoop (Brook 2021) and FrostLoop."
    assert terms(text, headings=("Notes", "References")) == terms(text, headings=("7. Acknowledgements",)) == []
    assert terms(text, headings=("7. Results",)) != []


def test_the_borrowed_names_of_other_languages_are_read_too() -> None:
    assert terms("Das Verfahren FrostLoop (Brook 2021) heizt.", language="de") == [("FrostLoop", "cited")]
    assert terms("我们使用 FrostLoop [3] 来取暖。", language="zh") == [("FrostLoop", "cited")]


def test_the_engine_can_leave_each_of_the_two_out() -> None:
    request = ExtractRequest(
        title="Notes", language="en", headings=(), text="It is FrostLoop (Brook 2021), or SoilNet."
    )
    signals = {t.signal for t in ExtractiveEngine().extract(request).terms}
    without = {t.signal for t in ExtractiveEngine(frozenset({"cited"})).extract(request).terms}
    assert signals - without == {"cited"} and "named" in without


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("AbC dE(1920)[12],.;@’'-&\n一\0"), max_size=200), st.integers(0, 220))
def test_any_text_is_read_and_gives_names_that_stand_in_it(text: str, at: int) -> None:
    for name, _ in terms(text, marks=(Span(kind="citation", start=max(0, at - 1), end=at),)):
        assert name and "\0" not in name


# --- which of them nobody explains ----------------------------------------------------------------------------------


def test_one_citation_is_enough_and_a_mere_mention_needs_a_second() -> None:
    cited_once = [Term(name="Zephyr", signal="cited")]
    assert lacking(cited_once) == {"zephyr": "Zephyr"}
    assert lacking(("Zephyr",)) == {}
    assert lacking(("Zephyr",), ("Zephyr",)) == {"zephyr": "Zephyr"}
    assert lacking(("FrostLoop", "FrostLoop")) == {"frostloop": "FrostLoop"}
    assert lacking(("NP", "NP")) == {}, "capitals alone are labels, too"


def test_what_a_document_treats_is_not_lacking() -> None:
    for signal in ("heading", "index", "definition", "glossary", "emphasis"):
        treated = Term.model_validate({"name": "Zephyr", "signal": signal})
        assert lacking([Term(name="Zephyr", signal="cited")], [treated]) == {}


def test_versions_and_kinds_of_one_thing_are_one_name() -> None:
    assert lacking(("Zephyr 2", "Zephyr 3"), ("Zephyr 2",)) == {"zephyr": "Zephyr"}
    assert set(lacking([Term(name=n, signal="cited") for n in ("Zephyr", "Zephyr dataset")])) == {"zephyr"}


def test_short_forms_parts_and_compounds_of_what_is_treated_are_not_lacking() -> None:
    heading = Term(name="deep soil heating", signal="heading")
    other = Term(name="slope stabilization", signal="heading")
    for name in ("DSH", "Soil Heating", "deep soil heating system", "modern slope stabilization"):
        assert lacking([Term(name=name, signal="cited"), heading, other]) == {}, name
    assert lacking([Term(name="Soil Network", signal="cited"), heading, other]) != {}


def test_a_borrowed_name_never_becomes_an_article_nor_changes_one() -> None:
    borrowed = [Term(name="Zephyr", signal="cited")] * 5 + [Term(name="ZEPHYR", signal="named")] * 5
    assert _resolved([SourceClaims(SourceId("s"), "", "en", (), tuple(borrowed))]).concepts == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FrostLoop is a closed pipe.", True),
        ("FrostLoop (Brook 2021) is an open pipe.", True),
        ("A pipe like that is called FrostLoop.", True),
        ("They laid a FrostLoop, a pipe that holds brine.", True),
        ("FrostLoop ist ein Rohr.", True),
        ("The best known of these is FrostLoop (Brook 2021), which can be seen as a pipe.", True),
        ("FrostLoop is used in winter.", False),
        ("We compare it with FrostLoop and others.", False),
        ("FrostLooper is a tool, and so is MyFrostLoop.", False),
        ("FrostLoop-2 is a tool.", False),
    ],
)
def test_whether_a_text_says_what_a_name_means_is_told_from_the_words_beside_it(text: str, said: bool) -> None:
    assert explains(text.lower(), ["FrostLoop"]) is said


def test_the_first_mention_is_a_whole_word() -> None:
    assert first_mention("frostlooper and frostloops", ["FrostLoop"]) == 16
    assert first_mention("nothing of it", ["FrostLoop"]) == -1


# --- how they are shown ---------------------------------------------------------------------------------------------


def _structural(vault: Vault) -> dict[str, Gap]:
    gaps = parse_agenda((vault.root / GAPS).read_text("utf-8"))
    return {g.what: g for g in gaps if g.kind is GapKind.STRUCTURAL}


def _compiled(vault: Vault, hours: int = 0) -> dict[str, Gap]:
    compile_vault(vault, Options(), MORNING + timedelta(hours=hours), lambda event: None)
    return _structural(vault)


def test_the_agenda_says_who_names_a_thing_and_where(vault: Vault) -> None:
    (vault.root / "raw/articles/heat.md").write_text(SURVEY, encoding="utf-8")
    found = _compiled(vault)
    assert {"ThermaCore", "FrostLoop", "Trench drilling"} <= set(found)
    gap = found["Trench drilling"]
    assert gap.missing == "named in one source (Moving heat, line 3), explained in none"
    assert gap.mentions == ("[[wiki/summaries/heat|Moving heat]]",)
    assert not [p for p in vault.paths(CONCEPTS, ".md") if "frostloop" in p.casefold()]
    wanted = {w.what: w for w in parse_reading_list((vault.root / READING_LIST).read_text("utf-8"))}
    assert [w.address for w in wanted["FrostLoop"].works] == ["https://example.org/frostloop"]


def test_a_decision_outlives_another_mention_and_an_explanation_fills_the_gap(vault: Vault) -> None:
    (vault.root / "raw/articles/heat.md").write_text(SURVEY, encoding="utf-8")
    first = _compiled(vault)["FrostLoop"]
    decide(vault, first.id, Decision.PLAN, MORNING)
    (vault.root / "raw/articles/more.md").write_text("# More heat\n\nCellars use the FrostLoop (Brook 2021).\n")
    second = _compiled(vault, 1)["FrostLoop"]
    assert (second.id, second.status) == (first.id, GapStatus.PLANNED)
    assert second.missing == "named in 2 sources, explained in none" and len(second.mentions) == 2
    told = "# FrostLoop\n\nFrostLoop is a closed pipe that carries brine through cold soil.\n"
    (vault.root / "raw/articles/told.md").write_text(told, encoding="utf-8")
    assert _compiled(vault, 2)["FrostLoop"].status is GapStatus.FILLED
