"""Which picture, code or formula goes with a claim: the one it refers to or leads up to, and no other."""

import pytest

from compiler.articles.figures import ShownWith, shown_with
from compiler.readers.read import read_source
from vault.model.exhibit import ExhibitKind

LOOP = "A loop is a path that comes back to where it began."
OTHER = "Nothing else on this page has to do with that subject."


def of(document: str, quote: str = LOOP, name: str = "note.md") -> ShownWith:
    source = read_source(document.encode(), name)
    return shown_with(source, [("c", source.text.index(quote), quote)]).get("c", ShownWith())


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
    drawing = "![Figure 7: A loop is a path](b.png)"
    page = f"{LOOP} {'Word after word. ' * words}All is drawn in Figure 7.\n\n{OTHER}\n\n{drawing}\n"
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
        ("A loop is a path, as the picture below shows.", ["b.png"]),
        ("A loop is a path, as the image shown above shows.", ["a.png"]),
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
    assert shown_with(source, [("c", 10_000, "no such place")]) == {}


@pytest.mark.parametrize("embed", ["![[loop.png|A loop is a path]]", "![A loop is a path](loop.png)", "![](loop.png)"])
def test_a_picture_on_the_other_side_is_not_the_one_that_the_words_mean(embed: str) -> None:
    below, above = f"{LOOP[:-1]}, as the picture below shows.", f"{LOOP[:-1]}, as the picture above shows."
    assert pictures(f"{OTHER}\n\n{embed}\n\n{below}\n\n{OTHER}\n", below) == []
    assert pictures(f"{OTHER}\n\n{above}\n\n{embed}\n\n{OTHER}\n", above) == []
    assert pictures(f"{OTHER}\n\n{embed}\n\n{above}\n\n{OTHER}\n", above) == ["loop.png"]
    assert pictures(f"{OTHER}\n\n{below}\n\n{embed}\n\n{OTHER}\n", below) == ["loop.png"]


def test_a_number_means_the_picture_of_its_side_or_not() -> None:
    said = f"{LOOP[:-1]} (Figure 1), as shown below."
    assert pictures(f"![Figure 1: Round](a.png)\n\n{said}\n\n![Other](b.png)\n", said) == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("number", "between", "found"), [(1, "", ["a.png"]), (2, "", []), (1, f"{OTHER}\n\n", []), (0, "", [])]
)
def test_where_no_picture_has_a_number_they_are_counted(number: int, between: str, found: list[str]) -> None:
    said = f"{LOOP[:-1]}, as Figure {number} shows."
    page = f"{said}\n\n{between}![A knot](a.png)\n\n{OTHER}\n\n![A tree](b.png)\n"
    assert pictures(page, said) == found


def test_a_picture_goes_with_the_claim_that_ends_in_a_colon_before_it() -> None:
    said = LOOP[:-1] + ":"
    assert pictures(f"{said}\n\n![Round](a.png)\n", said) == ["a.png"]
    assert pictures(f"{said} for example:\n\n![Round](a.png)\n", said) == ["a.png"]
    assert pictures(f"{said}\n\n{OTHER}\n\n![Round](a.png)\n", said) == []
    assert pictures(f"![Round](a.png)\n\n{said}\n\n{OTHER}\n", said) == []
    assert pictures(f"{LOOP}\n\n![Round](a.png)\n") == []


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:alert(1)}{y}",
        r"y = \url{http://example.org/}",
        r"\includegraphics[width=1cm]{http://example.org/a.png}",
        r"\htmlClass{a}{y}",
        r"\htmlData{a=b}{y}",
        r"\require{html} y",
        r"\input{/etc/passwd}",
        r"\include{a}",
        r"\immediate\write18{ls}",
        r"\def\y{z} \y",
        r"\gdef\y{z} \y",
        r"\newcommand{\y}{z} \y",
        r"\let\y\href \y{javascript:alert(1)}{z}",
        r"a = b \HREF{javascript:alert(1)}{y}",
        r"\csname href\endcsname{javascript:alert(1)}{y}",
    ],
)
def test_a_formula_that_does_more_than_draw_is_not_carried(tex: str) -> None:
    assert of(f"{LOOP} Its length is given by\n\n$${tex}$$\n").exhibits == ()


@pytest.mark.parametrize(
    "tex",
    [
        r"\text{high} \leq \delta",
        r"\begin{cases} a \\ b \end{cases}",
        r"\underset{x}{\arg\max}\ f(x)",
        "h_{ref} = define",
    ],
)
def test_a_formula_that_only_draws_is_carried(tex: str) -> None:
    [shown] = of(f"{LOOP} Its length is given by\n\n$${tex}$$\n").exhibits
    assert shown.content == tex
