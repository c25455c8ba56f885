"""Which picture, code or formula goes with a claim: the one it refers to or leads up to, and no other."""

import pytest

from compiler.exhibits import Tied, tied
from compiler.ingest import read_source
from vault.exhibit import ExhibitKind

LOOP = "A loop is a path that comes back to where it began."
OTHER = "Nothing else on this page has to do with that subject."


def of(document: str, quote: str = LOOP, name: str = "note.md") -> Tied:
    source = read_source(document.encode(), name)
    return tied(source, [("c", source.text.index(quote), quote)]).get("c", Tied())


def pictures(document: str, quote: str = LOOP, name: str = "note.md") -> list[str]:
    return [p.target for p in of(document, quote, name).pictures]


def test_a_number_in_the_sentence_leads_to_the_picture_with_that_number() -> None:
    said = "A loop is a path that comes back to where it began (Figure 2)."
    page = f"{said}\n\n{OTHER}\n\n![Figure 1: A tree](a.png)\n\n{OTHER}\n\n![Figure 2: A path](b.png)\n"
    assert pictures(page, said) == ["b.png"]


def test_a_caption_in_a_paragraph_of_its_own_numbers_its_picture() -> None:
    said = "A loop is a path that comes back to where it began (see Fig. 3)."
    page = f"{said}\n\n{OTHER}\n\n![](b.png)\n\n*Figure 3: Round and round.*\n\n![](c.png)\n\n{OTHER}\n"
    assert pictures(page, said) == ["b.png"]


@pytest.mark.parametrize(("words", "found"), [(1, ["b.png"]), (1_000, [])])
def test_the_rest_of_a_paragraph_counts_only_where_it_is_near(words: int, found: list[str]) -> None:
    page = f"{LOOP} {'Word after word. ' * words}All is drawn in Figure 7.\n\n{OTHER}\n\n![Figure 7: A loop is a path](b.png)\n"
    assert pictures(page) == found


def test_a_reference_to_a_label_leads_to_its_picture() -> None:
    page = f"{LOOP} It is drawn in :numref:`fig_loop`.\n\n{OTHER}\n\n![Round.](../img/loop.svg)\n:label:`fig_loop`\n"
    assert pictures(page) == ["../img/loop.svg"]


def test_a_link_to_a_figure_leads_to_its_picture() -> None:
    page = f"""<html><body><article><p>{LOOP[:-1]} (<a href="#f2">the second figure</a>).</p><p>{OTHER}</p>
    <figure id="f1"><img src="a.png"><figcaption>One thing.</figcaption></figure>
    <figure id="f2"><img src="b.png"><figcaption>Another.</figcaption></figure></article></body></html>"""
    assert pictures(page, f"{LOOP[:-1]} (the second figure).", "page.html") == ["b.png"]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("As the figure below shows, a loop is a path.", ["b.png"]),
        ("As the figure above shows, a loop is a path.", ["a.png"]),
        ("A loop is a path, as shown below.", ["b.png"]),
        ("The following diagram has a loop for a path.", ["b.png"]),
        ("A loop is a path.", []),
    ],
)
def test_above_and_below_mean_the_nearest_picture_there(said: str, found: list[str]) -> None:
    page = f"{OTHER}\n\n![Something](a.png)\n\n{OTHER}\n\n{said}\n\n{OTHER}\n\n![Something](b.png)\n\n{OTHER}\n"
    assert pictures(page, said) == found


def test_a_claim_that_is_a_caption_has_its_picture() -> None:
    page = f"{OTHER}\n\n![{LOOP}](a.png)\n\n![A tree](b.png)\n"
    assert pictures(page) == ["a.png"]


def test_a_picture_beside_a_paragraph_goes_with_the_claim_that_says_what_it_shows() -> None:
    assert pictures(f"{LOOP}\n\n![A loop path](a.png)\n\n{OTHER}\n") == ["a.png"]
    assert pictures(f"{LOOP}\n\n![The author at work](a.png)\n\n{OTHER}\n") == []
    assert pictures(f"{LOOP}\n\n{OTHER}\n\n![A loop path](a.png)\n") == []


def test_a_reference_elsewhere_in_the_paragraph_counts_where_the_picture_shows_what_the_claim_says() -> None:
    head = f"{LOOP} Nobody doubts it. Figure 1 has an example."
    assert pictures(f"{head}\n\n![Figure 1: The path of a loop](a.png)\n") == ["a.png"]
    assert pictures(f"{head}\n\n![Figure 1: A tree](a.png)\n") == []


def test_a_claim_has_two_pictures_at_most() -> None:
    said = "A loop is a path (Figure 1, Figure 2, Figure 3)."
    rest = "\n\n".join(f"![Figure {n}: one](p{n}.png)" for n in (1, 2, 3))
    assert pictures(f"{said}\n\n{rest}\n", said) == ["p1.png", "p2.png"]


def test_code_goes_with_the_claim_that_leads_up_to_it() -> None:
    fence = "```python\ndef loop():\n    return loop\n```"
    [shown] = of(f"{LOOP} In Python:\n\n{fence}\n").exhibits
    assert (shown.kind, shown.content) == (ExhibitKind.CODE, "def loop():\n    return loop")
    assert of(f"The following function is a loop:\n\n{fence}\n", "The following function is a loop:").exhibits
    assert of(f"{LOOP}\n\n{fence}\n").exhibits == ()
    assert of(f"{LOOP} {OTHER} In Python:\n\n{fence}\n").exhibits == ()
    assert of(f"{LOOP} In Python:\n\n{OTHER}\n\n{fence}\n").exhibits == ()


def test_a_formula_goes_with_the_claim_that_leads_up_to_it() -> None:
    block = "$$\n\\frac{a}{b} = c\n$$"
    [shown] = of(f"{LOOP} Its length is given by\n\n{block}\n\nwhere a is small.\n").exhibits
    assert (shown.kind, shown.content) == (ExhibitKind.FORMULA, r"\frac{a}{b} = c")
    assert of(f"{LOOP}\n\n{block}\n").exhibits == ()


def test_a_document_that_shows_nothing_costs_nothing() -> None:
    source = read_source(f"{LOOP}\n\n{OTHER}\n".encode(), "note.md")
    assert tied(source, [("c", 10_000, "no such place")]) == {}
