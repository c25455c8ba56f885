"""Tables of LaTeX commands and environments by their effect: headings, emphasis, lists, signs, those without text."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

SECTIONS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5, "subparagraph": 6,
    "frametitle": 3,
}  # fmt: skip
INLINE = {  # the argument's words are marked
    **dict.fromkeys(("emph", "textit", "textsl", "textbf", "bm", "alert", "underline", "structure"), "em"),
    **dict.fromkeys(("texttt", "code"), "code"),
    "textsuperscript": "sup",
    "textsubscript": "sub",
}  # fmt: skip
SWITCHES = {"em": "em", "it": "em", "itshape": "em", "bf": "em", "bfseries": "em", "sl": "em", "slshape": "em"}
TERMS = {"defn", "newterm", "textdef", "concept", "term", "defterm"}  # what authors call their own \emph for new words
NOTES = {"footnote", "footnotetext", "sidenote", "marginpar", "marginnote"}
SILENT_CITES = {
    "cite", "citep", "parencite", "autocite", "footcite", "supercite", "citealp", "citenum", "cites", "Cite", "Citep",
    "fullcite", "citeyear", "citeyearpar", "shortcite", "citen",
}  # fmt: skip
NAMING_CITES = {"citet", "textcite", "citeauthor", "citealt", "Citet", "Textcite", "citeA", "shortciteA"}
REFERENCES = {
    "ref", "eqref", "cref", "Cref", "autoref", "nameref", "pageref", "vref", "figref", "secref", "subref",
    "labelcref", "cpageref", "fullref", "zcref",
}  # fmt: skip
FILES = {"input", "include", "subfile", "subfileinclude", "import", "subimport"}
# Commands with this many arguments that say nothing; all others show their arguments' words.
DROPPED = {
    **dict.fromkeys(
        "label index vspace hspace vskip bibliographystyle bibliography addbibresource usepackage documentclass"
        " pagestyle thispagestyle color hypersetup geometry nocite graphicspath lstset theoremstyle usetheme"
        " usecolortheme pagenumbering enlargethispage thanks institute email affil affiliation address orcid keywords"
        " tikzset pgfplotsset captionsetup newcounter setmainfont setsansfont setmonofont usetikzlibrary phantom"
        " vphantom hphantom todo marginparsep linespread hyphenation selectlanguage foreignlanguage pdfinfo"
        " newlength newif newtoks newbox institution city country postcode streetaddress state glsresetall printindex"
        " cline cmidrule addlinespace rowcolor columncolor cellcolor arrayrulecolor setstretch"
        " usemintedstyle newmathalphabet urlstyle citestyle bstctlcite IEEEauthorblockA conferenceinfo CopyrightYear"
        " crdata acmDOI acmISBN acmYear ccsdesc received acmConference setcopyright lstinputlisting inputminted"
        " stepcounter refstepcounter arabic roman value usefonttheme setbeamertemplate".split(),
        1,
    ),
    **dict.fromkeys(
        "setcounter addtocounter setlength addtolength fontsize rule markboth definecolor setbeamercolor setbeamerfont"
        " newcolumntype titleformat titlespacing DeclareUnicodeCharacter settowidth acmPrice DeclareGraphicsRule"
        " resizebox setlist PassOptionsToPackage numberwithin newmintinline newminted declaretheorem".split(),
        2,
    ),
    **dict.fromkeys("addcontentsline contentsline providecolor DeclareFontShape".split(), 3),
    **dict.fromkeys("textcolor colorbox scalebox parbox minipage foreignlanguage rotatebox".split(), 1),
    **dict.fromkeys(("multicolumn", "multirow"), 2),
}  # fmt: skip
# Commands of LaTeX and its common packages that print nothing, or change only how the words look.
LAYOUT = frozenset(
    "Big FloatBarrier Huge LARGE Large afterpage allowbreak alt appendix backmatter balance baselinestretch "
    "begingroup bf bgroup bibinfo big bigskip boldmath bottomrule break centering cleardoublepage clearpage "
    "columnbreak columnwidth cr crcr csname displaystyle doi dotfill doublespacing edef egroup else em endcsname "
    "endgroup expandafter fbox fi filbreak flushbottom flushleft fontfamily fontseries fontshape footnotesize "
    "framebox frontmatter fussy gdef global goodbreak hbox hfill hline href hrule hrulefill hskip huge "
    "ignorespaces indent invisible it itemsep kern labelsep large leavevmode left let limits linebreak linewidth "
    "listoffigures listoftables long lstlistoflistings mainmatter makeatletter makeatother makebox maketitle mbox "
    "mdseries medskip midrule morecmidrules natexlab newblock newpage noalign noindent nolimits nolinebreak "
    "nonumber nopagebreak normalfont normalsize notag note null onecolumn onehalfspacing only onslide pagebreak "
    "parbox parindent parskip pause penalty phantomsection protect qed qedhere raggedbottom raggedleft "
    "raggedright raisebox relax right rm rmfamily samepage sc scriptsize scshape selectfont sf sffamily "
    "singlespacing sl sloppy small smallskip specialrule strut tableofcontents tabularnewline textlf textmd "
    "textnormal textrm textsc textsf textstyle textup textwidth tiny titlepage toprule topsep transition tt "
    "ttfamily twocolumn unboldmath uncover unskip upshape urlprefix usefont vbox vfill visible vrule xspace".split()
)
REFERRING = re.compile(r"[A-Za-z]{0,12}(?:ref|REF|Ref)(?:s|range|page|plain)?")
LISTS = {
    **dict.fromkeys(("itemize", "compactitem", "inparaitem", "asparaitem"), "ul"),
    **dict.fromkeys(("enumerate", "compactenum", "inparaenum", "asparaenum"), "ol"),
    **dict.fromkeys(("description", "compactdesc", "labeling"), "dl"),
}
QUOTES = {"quote", "quotation", "verse", "displayquote"}
MATH_ENVIRONMENTS = {
    "equation": "", "equation*": "", "displaymath": "", "math": "", "multline": "", "multline*": "",
    "align": "aligned", "align*": "aligned", "alignat": "aligned", "alignat*": "aligned", "flalign": "aligned",
    "flalign*": "aligned", "gather": "gathered", "gather*": "gathered", "eqnarray": "eqnarray", "eqnarray*": "eqnarray",
    "dmath": "", "dmath*": "",
}  # fmt: skip
CODE_ENVIRONMENTS = {
    "verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt", "code", "algorithmic", "algorithm2e",
    "BVerbatim", "pseudocode", "pyconcode", "pycode",
}  # fmt: skip
SKIPPED_ENVIRONMENTS = {
    "comment", "tikzpicture", "pgfpicture", "axis", "filecontents", "filecontents*", "CCSXML", "picture", "tikzcd",
    "forest", "circuitikz", "asy", "luacode", "luacode*", "feynmandiagram",
}  # fmt: skip
FIGURES = {"figure", "figure*", "wrapfigure", "subfigure", "SCfigure", "marginfigure", "sidewaysfigure"}
TABLES = {"tabular", "tabular*", "tabularx", "tabulary", "longtable", "supertabular", "tblr", "longtblr"}
STATEMENTS = {
    "definition", "theorem", "lemma", "proposition", "corollary", "remark", "example", "claim", "conjecture", "axiom",
    "assumption", "fact", "observation", "notation", "property", "problem", "exercise", "note", "defn", "thm", "prop",
    "lem", "cor",
}  # fmt: skip

ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331", "t": "\u0361",
}  # fmt: skip
_SIGNS = {
    "%": "%", "&": "&", "$": "$", "#": "#", "_": "_", "{": "{", "}": "}", " ": " ", "\n": " ", ",": " ", ";": " ",
    ":": " ", "!": "", "/": "", "-": "", "@": "", "quad": " ", "qquad": " ", "space": " ", "thinspace": " ",
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "XeTeX": "XeTeX", "ldots": "…",
    "dots": "…", "textellipsis": "…", "slash": "/", "textasciitilde": "~", "textasciicircum": "^", "textbar": "|",
    "textless": "<", "textgreater": ">", "textunderscore": "_", "textbullet": "•", "ie": "i.e.", "eg": "e.g.",
    "etal": "et al.", "today": "", "par": "", "glqq": "„", "grqq": "“", "flqq": "«", "frqq": "»", "glq": "‚",
    "grq": "‘", "og": "« ", "fg": " »", "lq": "‘", "rq": "’", "dq": '"', "copyright": "©", "S": "§", "P": "¶",
    "pounds": "£", "degree": "°", "textdegree": "°", "and": ", ", "AND": ", ", "And": ", ", "newline": " ",
}  # fmt: skip


_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([A-Za-z]+\*?)\}")
_NOT_SHOWN = re.compile(r"\\(?:label\s*\{[^{}]*\}|nonumber\b|notag\b|qedhere\b)")


def formula(tex: str) -> str:
    """Return the TeX of a math environment as it may be written between dollars: without label and number."""

    def inner(found: re.Match[str]) -> str:
        name = MATH_ENVIRONMENTS.get(found[2], found[2])
        return f"\\{found[1]}{{{name}}}" if name else ""

    return _NOT_SHOWN.sub("", _ENVIRONMENT.sub(inner, tex))


def accented(letter: str, accent: str) -> str:
    """Return `letter` with the accent of this TeX command, in composed form."""
    base = {"\\i": "i", "\\j": "j", "ı": "i", "ȷ": "j"}.get(letter, letter)
    return unicodedata.normalize("NFC", base[:1] + ACCENTS[accent] + base[1:]) if base else ""


def is_layout(name: str) -> bool:
    """Return whether a command prints nothing of its own."""
    return (
        name in LAYOUT or name.startswith(("@", "if", "set", "new", "renew", "the")) or "rule" in name or "skip" in name
    )


@cache
def _symbols() -> dict[str, str]:
    """Return the commands that stand for a single character, from pylatexenc's table."""
    from pylatexenc.latex2text import get_default_latex_context_db

    specs: list[Any] = list(get_default_latex_context_db().iter_macro_specs())
    found = {s.macroname: s.simplify_repl for s in specs if isinstance(s.simplify_repl, str)}
    return {name: words for name, words in found.items() if len(words) == 1 and words.strip()}


def sign(command: str) -> str | None:
    """Return the characters that a command stands for in running text; None if it is no such command."""
    own = _SIGNS.get(command)
    return own if own is not None else _symbols().get(command)
