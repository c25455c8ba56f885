"""LaTeX sources read as the words, terms and formulas that a reader of the printed page sees."""

from __future__ import annotations

import pytest

from compiler.readers.read import read_source
from vault.model.source import MarkKind, SourceText


def read(tex: str, name: str = "paper.tex") -> SourceText:
    return read_source(tex.encode(), name)


def body(tex: str) -> SourceText:
    return read(f"\\documentclass{{article}}\n\\begin{{document}}\n{tex}\n\\end{{document}}\nignored\n")


def marked(source: SourceText, kind: MarkKind) -> list[str]:
    return [source.text[m.start : m.end] for m in source.marks if m.kind is kind]


def test_the_preamble_gives_properties_and_no_words() -> None:
    source = read(
        "\\documentclass{article}\nSome words\n\\title{On \\emph{Memory}\\thanks{Grant}}\n"
        '\\author{Ann M\\"uller \\and Bo}\n\\date{12 June 2017}\n'
        "\\begin{document}\n\\maketitle\nText.\n\\end{document}\n"
    )
    assert source.text == "Text."
    assert source.title == "On Memory"
    assert source.properties["author"] == "Ann Müller, Bo"
    assert source.properties["published"] == "2017-06-12"


def test_sections_are_headings_and_places_name_them_with_the_line() -> None:
    source = body("\\section[Short]{Long \\emph{title}}\n\nFirst.\n\n\\subsection*{Sub}\nSecond\nline.\n")
    levels = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.HEADING]
    assert levels == [("Long title", 2), ("Sub", 3)]
    assert source.locate(source.text.index("First")) == "Long title, line 5"
    assert source.locate(source.text.index("line.")) == "Sub, line 8"


def test_emphasis_and_formulas_keep_their_marks_and_the_documents_own_macros_are_put_in() -> None:
    source = read(
        "\\newcommand{\\R}{\\mathbb{R}}\\newcommand{\\norm}[2][2]{\\|#2\\|_{#1}}\\DeclareMathOperator{\\argmax}{arg\\,max}\n"
        "A \\textbf{vector} $x \\in \\R^n$ and {\\em its norm} $\\norm{x}$.\n\\[ \\argmax_x f \\label{eq:a} \\]\n"
    )
    assert marked(source, MarkKind.EMPHASIS) == ["vector", "its norm"]
    assert marked(source, MarkKind.MATH) == [
        "$x \\in \\mathbb{R}^n$",
        "$\\|x\\|_{2}$",
        "$$\\operatorname{arg\\,max}_x f$$",
    ]


def test_lists_and_descriptions() -> None:
    source = body(
        "\\begin{itemize}\\item one\n\\begin{enumerate}\\item inner\\end{enumerate}\n\\item two\\end{itemize}\n"
        "\\begin{description}\\item[Query] what is \\emph{sought}\\item[Key] what matches\\end{description}\n"
    )
    items = [(source.text[m.start : m.end], m.level) for m in source.marks if m.kind is MarkKind.ITEM]
    assert items == [("one\n\ninner", 1), ("inner", 2), ("two", 1)]
    assert marked(source, MarkKind.TERM) == ["Query", "Key"]


def test_a_definitions_title_is_a_term() -> None:
    source = read(
        "\\newtheorem{defn}{Definition}\n\\begin{defn}[Preorder]\\label{d}\nA preorder is a relation.\n\\end{defn}\n"
    )
    assert marked(source, MarkKind.TERM) == ["Preorder"]
    assert source.text == "Preorder\n\nA preorder is a relation."


def test_citations_leave_sentences_whole_and_references_leave_a_gap() -> None:
    source = body("It works~\\cite{a,b}. As shown in \\cite{c}, see Figure~\\ref{fig:x}.")
    assert source.text == "It works. As shown in […], see Figure […]."
    cited = [m.info for m in source.marks if m.kind is MarkKind.CITATION]
    assert cited == ["a\nb", "c"]


def test_a_citation_knows_what_the_documents_own_list_says_of_it() -> None:
    source = body(
        "It works \\cite{v}.\n\\begin{thebibliography}{9}\n"
        "\\bibitem{v} A. Vaswani. \\newblock \\emph{Attention}. 2017.\n"
        "\\end{thebibliography}\n"
    )
    assert [m.info for m in source.marks if m.kind is MarkKind.CITATION] == ["A. Vaswani. Attention. 2017."]
    assert source.locate(source.text.index("A. Vaswani")).startswith("References, line ")


def test_quotes_dashes_accents_and_signs_are_the_characters_they_stand_for() -> None:
    source = body("``Na\\\"{\\i}ve'' caf\\'e --- 1--2, 5\\% of \\$3~m, Stra\\ss\ne, \\c{c}a, \\ldots\\ done\\,!")
    assert source.text == "“Naïve” café — 1–2, 5% of $3 m, Straße, ça, … done !"


def test_comments_footnotes_and_what_is_switched_off() -> None:
    source = body("One % hidden\ntwo\\footnote{A note.} goes on.\n% a line\nThree.\n\\iffalse gone \\fi\nFour.")
    assert source.text == "One two goes on. Three. Four.\n\nA note."


def test_code_keeps_its_lines_and_language() -> None:
    source = body(
        "\\begin{lstlisting}[language=Python, caption=x]\ndef f():\n    return 1 % 2\n\\end{lstlisting}\n"
        "\\begin{minted}{rust}\nfn f() {}\n\\end{minted}\n"
        "\\begin{verbatim}\n\\emph{raw}\n\\end{verbatim}\nUse \\verb|x_y|.\n"
    )
    blocks = [(m.info, source.text[m.start : m.end]) for m in source.marks if m.kind is MarkKind.CODE]
    assert blocks == [
        ("python", "def f():\n    return 1 % 2"),
        ("rust", "fn f() {}"),
        ("", "\\emph{raw}"),
        ("", "`x_y`"),
    ]


def test_figures_and_tables() -> None:
    source = body(
        "\\begin{figure}[ht]\\centering\\includegraphics[width=3cm]{img/curve}"
        "\\caption{The \\emph{curve}.}\\end{figure}\n"
        "\\begin{tabular}{l|r}\\hline Term & Meaning \\\\ "
        "\\hline cue & what helps \\\\[2pt] lapse & a miss \\end{tabular}\n"
        "\\begin{tikzpicture}\\draw (0,0);\\end{tikzpicture}"
    )
    assert [(p.target, p.caption) for p in source.pictures] == [("img/curve", "The curve.")]
    assert "Term | Meaning\ncue | what helps\nlapse | a miss" in source.text and "draw" not in source.text


def test_a_file_of_its_own_is_named_and_not_followed() -> None:
    source = body("Words.\n\\input{chapters/one}\n")
    assert [(p.code, p.line) for p in source.problems] == [("latex-input", 4)]
    assert "chapters/one" in source.problems[0].message


def test_a_link_may_hold_a_percent_sign() -> None:
    source = body("See \\href{https://a.b/c%20d}{the page} and more.")
    assert source.text == "See the page and more."
    assert [m.info for m in source.marks if m.kind is MarkKind.LINK] == ["https://a.b/c%20d"]


def test_what_is_not_known_shows_its_words() -> None:
    assert body("\\unknown{shown} and \\mysection{Own}\nText.").text == "shown and\n\nOwn\n\nText."


@pytest.mark.parametrize(
    ("encoding", "declared", "words"),
    [
        ("latin-1", "latin1", "Die Verfügung über größere Wörter ist nötig"),
        ("koi8-r", "koi8-r", "Память сохраняет то, что было понято"),
        ("cp1250", "cp1250", "Żółw pamięta drogę do domu"),
    ],
)
def test_an_encoding_is_the_one_that_the_document_declares(encoding: str, declared: str, words: str) -> None:
    tex = f"\\usepackage[{declared}]{{inputenc}}\n\\begin{{document}}\n{words}.\n\\end{{document}}"
    source = read_source(tex.encode(encoding), "a.tex")
    assert source.text == f"{words}."


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-16", "Memory keeps what was understood well"),
        ("gb18030", "注意力机制是一种让模型关注输入的重要部分的方法。它在自然语言处理中非常重要，也用于图像。" * 4),
        ("shift_jis", "記憶は理解されたことを保つ。これは学習にとってとても大切なことである。" * 4),
    ],
)
def test_other_encodings_are_told_by_their_look(encoding: str, words: str) -> None:
    assert words in read_source(f"\\section{{A}}\n{words}\n".encode(encoding), "a.tex").text


@pytest.mark.parametrize(
    "bomb",
    [
        "{" * 50_000, "\\begin{a}" * 8_000, "\\begin{itemize}\\item " * 4_000, "\\item[" * 8_000, "$a" * 25_000,
        "\\[" * 25_000, "\\begin{verbatim}" * 5_000, "\\cite[" * 8_000, "\\newcommand{\\a" * 4_000,
        "\\footnote{" * 8_000,
        "\\def\\a{\\b\\b}\\def\\b{\\a\\a x}words \\a", "\\def\\x{" + "y" * 4_000 + "}words " + "\\x " * 20_000,
        "%" * 50_000, "\\" * 50_000, "\\begin{tabular}{c}a&" * 2_000,
    ],
    ids=lambda bomb: repr(bomb[:12]),
)  # fmt: skip
def test_hostile_latex_ends(bomb: str) -> None:
    source = read(f"\\section{{A}}\nlast words here\n{bomb}")
    assert source.text.startswith("A\n\nlast words here")


def test_a_macro_that_nobody_defines_leaves_a_gap_and_is_named() -> None:
    source = body(
        "The \\tool reads \\SI{3}{\\metre} in \\lang{Welsh} and \\small small print, by \\tool{}.\n\n"
        "\\pagelayout\nNext.\\hfill\n"
    )
    assert source.text == "The […] reads […] in Welsh and small print, by […].\n\nNext."
    [problem] = source.problems
    assert problem.code == "latex-macros" and "\\tool (2), \\SI (1)" in problem.message


def test_a_sign_that_a_class_has_made_a_command_leaves_a_gap() -> None:
    source = body("If $t$ is !!a{term}, then !!^{formula}s are read. Stop!! {Now} go.")
    assert source.text == "If $t$ is […], then […]s are read. Stop!! Now go."
    assert "!! (2)" in source.problems[0].message


def test_references_by_whatever_name_leave_a_gap() -> None:
    assert body("As \\REF{ex:7} and \\Figref{f} show.").text == "As […] and […] show."


def test_examples_of_linguists_are_not_asserted() -> None:
    source = body("They differ:\n\n\\ea \\label{e}\n\\ea John left.\\\\\n\\ex[*]{John leaved.}\n\\z\n\\z\n\nSo it is.")
    assert source.text == "They differ:\n\nJohn left.\n\nJohn leaved.\n\nSo it is."
    assert {w for m in marked(source, MarkKind.QUESTION) for w in m.split("\n\n")} == {"John left.", "John leaved."}
    boxed = body("\\begin{exe}\n\\ex John left.\n\\ex He ran.\n\\end{exe}\nSo.")
    assert marked(boxed, MarkKind.QUESTION) == ["John left.\n\nHe ran."]
