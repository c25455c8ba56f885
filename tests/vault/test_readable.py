"""Formulas, pictures and code on a screen that shows only letters."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.model import latex
from vault.model.exhibit import code, formula, picture

SCRAPS = "\\frac \\sqrt \\alpha \\left \\begin{matrix} \\end{matrix} \\mathbb \\text \\hat \x1b \u202e \ue000".split(
    " "
)
TEX = st.lists(st.sampled_from([*"ab12 ^_{}\\&%$~#|()[]+=/,", *SCRAPS]), max_size=60).map("".join)


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (r"$QK^\top/\sqrt{d}$", "QKᵀ/√d"),
        (r"$$\frac{QK^\top}{\sqrt{d_k}}$$", "QKᵀ/√dₖ"),
        (r"\frac{a+b}{c}", "(a+b)/c"),
        (r"\sum_{i=1}^n x_i^2", "∑ᵢ₌₁ⁿ xᵢ²"),
        (r"\mathbf{W}_i^{(q)}", "Wᵢ^(q)"),
        (r"x_{i,j}^{model}", "x_(i,j)ᵐᵒᵈᵉˡ"),
        (r"d_{model}", "d_model"),
        (r"\hat{y} \in \mathbb{R}^{n \times d}", "ŷ ∈ ℝ^(n × d)"),
        (r"\alpha \leq \beta \quad \text{if } x > 0", "α ≤ β if x > 0"),
        (r"\|x\|_2", "‖x‖₂"),
        (r"\begin{bmatrix}a & b\\ c & d\end{bmatrix}", "[a b; c d]"),
        (r"n \log n", "n log n"),
        (r"\sqrt[3]{x}", "³√x"),
        (r"\mathbb R^n", "ℝⁿ"),
        (r"\mathbf{W}_q\mathbf{q}", "W_q q"),
        (r"a\_b = 50\% & f''(x)", "a_b = 50% f''(x)"),
    ],
)
def test_a_formula_is_shown_in_unicode(tex: str, shown: str) -> None:
    assert latex.formula(tex) == shown


@pytest.mark.parametrize(
    "tex",
    [
        r"\foo{bar}",
        r"\frac{1",
        "a_{",
        "\\",
        "{" * 90,
        r"\input{/etc/passwd}",
        r"\begin{tikz}x\end{tikz}",
        "x" * 601,
        "$$",
    ],
)
def test_a_formula_that_says_more_stays_as_it_is_written(tex: str) -> None:
    assert latex.formula(tex) == tex


@given(TEX)
def test_no_scrap_of_a_formula_breaks_the_screen(tex: str) -> None:
    shown = latex.text(f"$${tex}$$")
    assert "\x1b" not in shown and "\u202e" not in shown


def test_amounts_of_money_are_no_formulas() -> None:
    assert latex.text("from $5 to $10, or $5-$10, and $ 3 $") == "from $5 to $10, or $5-$10, and $ 3 $"


def test_pictures_code_and_formulas_of_a_card_in_plain_text() -> None:
    shown = "![[wiki/assets/a-0123456789ab.png|A plot]]\n```python\nx = `$y$`\n```\n$$\\frac{a}{b}$$"
    card = f"It is $x^2$ \\*here\\*:\n{shown}"
    assert latex.text(card) == (
        "It is x² *here*:\n[picture: A plot, wiki/assets/a-0123456789ab.png]\n[python]\n    x = `$y$`\na/b"
    )


def test_what_a_source_shows_is_named_on_one_line() -> None:
    assert latex.exhibit(picture("https://example.org/a.png", "A\x1b[2Jplot")) == (
        "[picture: A\ufffd(2Jplot, https://example.org/a.png]".replace("(", " ")
    )
    ratio, listing = formula(r"\frac{a}{b}"), code("x = 1", "python")
    assert ratio is not None and latex.exhibit(ratio) == "a/b"
    assert listing is not None and latex.exhibit(listing) == "[code in python, 1 line]"


def test_the_library_is_loaded_for_a_formula_alone() -> None:
    script = (
        "import sys; from vault.model import latex; latex.text('Some words, `code` and ![[a.png]] for $5.');"
        "assert 'pylatexenc' not in sys.modules; latex.text('$\\\\alpha$'); assert 'pylatexenc' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_sound_and_a_film_are_called_what_they_are() -> None:
    assert latex.text("![[learning/media/a.MP3]]") == "[sound: learning/media/a.MP3]"
    assert latex.text("![[learning/media/a.webm|A walk]]") == "[film: A walk, learning/media/a.webm]"
