"""WRITE: what a request shows, and the articles, cards and questions of an answer."""

from __future__ import annotations

import pytest

from compiler.protocol.faults import Fault
from compiler.protocol.forms import is_usable, nothing, parse, render
from compiler.protocol.passages import cells
from compiler.protocol.plain_text import plain_words
from compiler.protocol.replies import WriteReply, WrittenArticle, WrittenCard, WrittenSentence
from compiler.protocol.requests import ConceptTask, PresentSentence, WriteRequest
from tests.compiler.shown_documents import IDS, shown

ROPES = """# Ropes

A halyard is a rope that hoists a sail. It runs over a block at the top of the mast. A pull of 4 kN is halved.

| rope | length |
|---|---|
| halyard | 24 m |
| sheet | 12 m |

```python
def haul(rope):
    return rope + 1
```

The pull is

$$
F = m g
$$

as every sailor knows.

1. Take up the slack.
2. Make fast.
"""
HALYARD = ConceptTask(
    title="Halyard", aliases=("sail rope",), line="A rope that hoists.", passages=("1:1", "1:2", "1:3"), covers=()
)
SHEET = ConceptTask(title="Sheet", passages=("1:2",))
REQUEST = WriteRequest(language="en", concepts=(HALYARD, SHEET), documents=shown(ROPES), neighbours=("Capstan",))
GOOD = """=== Halyard
A halyard hoists a sail. [1:1a] It runs over a block. [1:1b]

## How it is used
Two halyards are 2 × 24 = 48 m long. [derived 1:2b] Hauling returns one more. [computed: haul(3) in Python; 1:3]
See [[Capstan]] and [[Sheet]].

1. Take up the slack. [1:4d]
2. Then make it fast. [1:4e]

- it hoists [1:1a]

| | length |
|---|---|
| halyard | 24 m | [1:2b]
| sheet | 12 m | [1:2c]

@keep 1:3
=== CARDS Halyard
K: definitional
Q: What does a halyard do?
A: It hoists a sail.
C: 1:1a
K: applied
Q: How long is a halyard?
A: 24 m.
C: [1:2b]
=== OPEN Halyard
- Why is a halyard of 24 m long enough? [1:2b]
=== Sheet
A sheet is 12 m long. [1:2c]
=== LEFT
- 1:4 the formula says nothing of halyards
CLASH A halyard hoists a sail, or is 24 m long. [1:1a] [1:2b]
"""


def write(text: str, request: WriteRequest = REQUEST) -> tuple[WriteReply, list[Fault]]:
    reply, faults = parse(request, text)
    assert isinstance(reply, WriteReply)
    return reply, faults


def halyard(body: str) -> tuple[WrittenArticle, list[Fault]]:
    """The article of the first concept, and the faults but for those about the second."""
    reply, faults = write(f"=== Halyard\n{body}\n=== Sheet\nA sheet is 12 m long. [1:2c]\n")
    return reply.articles[0], faults


def sentences(article: WrittenArticle) -> list[WrittenSentence]:
    return [s for section in article.sections for paragraph in section.paragraphs for s in paragraph]


def test_a_request_shows_tasks_passages_and_other_pages() -> None:
    text = render(REQUEST)
    assert "WRITE Halyard (also: sail rope)\n  so far: A rope that hoists.\n  passages: 1:1, 1:2, 1:3" in text
    assert "OTHER PAGES" in text and "Capstan" in text
    assert "def haul(rope):\n    return rope + 1" in text and "F = m g" in text


def test_a_good_answer_gives_sections_lists_tables_blocks_cards_and_questions() -> None:
    reply, faults = write(GOOD)
    assert faults == [] and is_usable(REQUEST, reply)
    one, other = reply.articles
    assert [s.heading for s in one.sections] == ["", "How it is used"]
    assert [s.text for s in one.sections[0].paragraphs[0]] == ["A halyard hoists a sail.", "It runs over a block."]
    forms = [[(s.form, s.mark) for s in p] for p in one.sections[1].paragraphs]
    assert forms == [
        [("", "derived"), ("", "computed")],
        [("step", ""), ("step", "")],
        [("item", "")],
        [("head", ""), ("row", ""), ("row", "")],
        [("keep", "")],
    ]
    computed = one.sections[1].paragraphs[0][1]
    assert computed.note == "haul(3) in Python" and computed.quotes[0].words == "def haul(rope): return rope + 1"
    kept = one.sections[1].paragraphs[-1][0]
    assert kept.block.startswith(f"{IDS[0]}:") and kept.quotes == computed.quotes
    assert one.see == ("Capstan", "Sheet")
    assert [(c.kind, c.question, c.answer) for c in one.cards] == [
        ("definitional", "What does a halyard do?", "It hoists a sail."),
        ("applied", "How long is a halyard?", "24 m."),
    ]
    assert [q.text for q in one.questions] == ["Why is a halyard of 24 m long enough?"] and one.questions[0].quotes
    assert [left.why for left in one.left] == ["the formula says nothing of halyards"] and one.left[0].block
    (clash,) = reply.clashes
    assert clash.text == "A halyard hoists a sail, or is 24 m long." and clash.second[0].words == "halyard | 24 m"
    assert [s.text for s in sentences(other)] == ["A sheet is 12 m long."]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("A halyard hoists a sail.", "cites nothing"),
        ("A halyard hoists 9 sails. [1:1a]", "do not contain 9"),
        ("As Joseph Conrad says, a halyard hoists a sail. [1:1a]", "do not mention Joseph"),
        ("Two halyards are 2 × 24 = 52 m long. [derived 1:2b]", "the result is 48"),
        ("A halyard hoists a sail; see https://evil.example. [1:1a]", "a link or an address"),
        (r"A halyard costs \$5, as https://evil.example says, or \$6. [derived 1:1a]", "a link or an address"),
        (r"A halyard hoists $\href{javascript:alert()}{x}$. [1:1a]", "a formula with an unsafe command"),
        ("A halyard hoists a sail. [1:1z]", "has no piece z"),
        ('A halyard hoists a sail. [1:1 "lowers every flag"]', "does not contain these words"),
        ("A halyard hoists a sail. [7:1a]", "no passage 7:1"),
        ("@keep 7:1", "no passage 7:1"),
        ("| rope | length |\n|---|---|\n| halyard | 24 m |\n| sheet | 12 m | [1:2c]", "the row cites nothing"),
    ],
)
def test_a_sentence_that_cannot_be_used_is_named_and_the_others_stay(line: str, why: str) -> None:
    article, faults = halyard(f"A halyard hoists a sail. [1:1a]\n\n{line}\n\nIt runs over a block. [1:1b]")
    assert [f for f in faults if why in f.why and f.line >= 4], faults
    texts = [s.text for s in sentences(article)]
    assert texts[0] == "A halyard hoists a sail." and texts[-1] == "It runs over a block."
    assert len(texts) <= (4 if line.startswith("|") else 2)


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ("K: mystic\nQ: What does a halyard do?\nA: It hoists.\nC: 1:1a", "unknown kind"),
        ("K: applied\nQ: What does a halyard do?\nA: It hoists.", "cites nothing"),
        ("K: applied\nQ: What does a halyard do?\nA: It hoists.\nC: 1:1z", "has no piece z"),
        ("K: applied\nQ: How long is a halyard?\nA: 42 m.\nC: 1:2b", "do not contain 42"),
        ("K: applied\nQ: What does a halyard do\nA: It hoists.\nC: 1:1a", "is not phrased as a question"),
        ("K: applied\nQ: Does a halyard hoist a sail?\nA: A halyard.\nC: 1:1a", "contains its answer"),
    ],
)
def test_a_card_that_cannot_be_used_is_named_and_the_others_stay(card: str, why: str) -> None:
    good = "K: applied\nQ: What runs over a block?\nA: The rope that hoists a sail.\nC: 1:1a, 1:1b"
    article, faults = halyard(
        f"It hoists a sail. [1:1a]\n=== CARDS Halyard\n{card}\n{good.replace('1:1a, ', '1:1a; ')}"
    )
    assert [f for f in faults if why in f.why and f.line], faults
    assert [c.question for c in article.cards] == ["What runs over a block?"]


def test_headings_table_heads_notes_and_questions_assert_nothing_that_is_foreign() -> None:
    article, faults = halyard(
        "A halyard hoists a sail. [1:1a]\n## The halyard of Elon Musk\nIt runs over a block. [1:1b]\n"
        "## 2. How a Halyard Is Used\nHauling gives 2. [computed: haul(1) *now* https://evil.example; 1:3]\n\n"
        "| rope | 77 m |\n|---|---|\n| halyard | 24 m | [1:2b]\n\n"
        f"| {' | '.join('x' * 2_000)} |\n| halyard | 24 m | [1:2b]\n"
        "=== OPEN Halyard\n- What does Elon Musk hoist?\n- A halyard is good.\n- Why is a pull halved? [1:1c]"
    )
    assert [s.heading for s in article.sections] == ["", "", "2. How a Halyard Is Used"]
    assert [(s.mark, s.note) for s in sentences(article) if s.mark] == [("computed", "")]
    assert [s.text for s in sentences(article) if s.form == "head"] == ["– | –"]
    assert [q.text for q in article.questions] == ["Why is a pull halved?"]
    assert [f.why for f in faults] == [
        "the passages do not mention Elon",
        "the cited passages do not contain 77",
        "a row has at most 30 cells",
        "the passages do not mention Elon",
        "an open question must end with a question mark",
    ]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("`SELECT *, COUNT(*)` and `x[[0]]`", "`SELECT *, COUNT(*)` and `x[[0]]`"),
        ("2**3 = 8 and 2**4 = 16", "2**3 = 8 and 2**4 = 16"),
        ("(a + b)*c*(d + e) and f(**kw) and g(**kw)", "(a + b)*c*(d + e) and f(**kw) and g(**kw)"),
        ("**the `a*b*c`** of *all* [[Sheet|sheets]], $a*b*c$", "the `a*b*c` of all sheets, $a*b*c$"),
        ("这是**重点**内容, (*see*) **48 m**", "这是重点内容, (see) 48 m"),
    ],
)
def test_emphasis_goes_and_code_formulas_and_products_stay(written: str, plain: str) -> None:
    assert plain_words(written) == plain


def test_a_long_table_put_in_whole_is_quoted_row_by_row_and_bars_in_cells_stay() -> None:
    rows = "\n".join(f"| rope {n} | {'long ' * 60}|" for n in range(9))
    request = REQUEST.replaced(documents=shown(f"# Ropes\n\n| rope | how |\n|---|---|\n{rows}\n"))
    (kept,) = sentences(write("=== Halyard\n@keep 1:1", request)[0].articles[0])
    assert len(kept.quotes) == 10 and all(len(q.words) < 400 for q in kept.quotes)
    assert cells(r"a \| b | `x|y` | $|x|$ | $5 | $6") == [r"a \| b", "`x|y`", "$|x|$", "$5", "$6"]


def test_a_concept_without_an_article_or_of_another_request_is_a_fault() -> None:
    reply, faults = write("=== Halyard\nIt hoists a sail. [1:1a]\n=== Keel\nA keel is a fin. [1:1a]\n")
    assert {f.why for f in faults} == {"this request has no such concept", "there is no article about it"}
    assert [bool(a.sections) for a in reply.articles] == [True, False]
    assert "fin" not in str(reply.as_json())


def test_an_article_goes_by_another_name_of_its_concept_and_bold_and_links_are_plain_words() -> None:
    article, faults = halyard("")
    assert not article.sections and faults
    reply, _ = write("=== **sail rope** ===\nA **halyard** hoists a [[Sail|sail]]. [1:1a]\n")
    assert [s.text for s in sentences(reply.articles[0])] == ["A halyard hoists a sail."]


def test_a_page_may_be_in_another_language_than_what_it_cites() -> None:
    documents = shown(
        "# 位置编码\n\n位置编码可以通过学习得到也可以直接固定得到。\n",
        "# Codes\n\nSie werden gelernt oder festgelegt.\n",
    )
    task = ConceptTask(title="Positional encoding", aliases=("位置编码",))
    request = WriteRequest(language="en", concepts=(task,), documents=documents)
    reply, faults = write(
        "=== Positional encoding\nPositions can be learned or fixed. [1:1]\nThey are set. [2:1]", request
    )
    assert not faults and len(sentences(reply.articles[0])) == 2
    _, faults = write("=== Positional encoding\nPositions can be learned in 1999. [1:1]", request)
    assert any("1999" in f.why for f in faults)


def test_two_citations_of_one_sentence_are_joined() -> None:
    article, faults = halyard("A halyard hoists a sail. [1:1a] [derived 1:1b]")
    (sentence,) = sentences(article)
    assert not faults and len(sentence.quotes) == 2 and sentence.mark == "derived"


UPDATE = WriteRequest(
    language="en",
    concepts=(
        HALYARD.replaced(
            new=("1:2",),
            present=(
                PresentSentence(heading="", sentence=WrittenSentence(text="It hoists.")),
                PresentSentence(heading="Use", sentence=WrittenSentence(text="It is old."), gone=True),
                PresentSentence(heading="Use", sentence=WrittenSentence(text="It runs.", mark="derived")),
            ),
            cards=(WrittenCard(kind="applied", question="What stays?", answer="This."),),
            reasons=("too dry",),
        ),
    ),
    documents=shown(ROPES),
)


def test_an_update_shows_the_article_marks_what_is_new_and_keeps_sentences_by_number() -> None:
    text = render(UPDATE)
    assert "    s1: It hoists.\n    ## Use\n    s2: It is old. (its text is no longer in the source" in text
    assert "the user rejected an earlier version: too dry" in text and "card to keep: What stays?" in text
    assert "\n[1:2*] " in text and "\n[1:1] " in text
    reply, faults = write("=== Halyard\n@s 1 @s 3\nIt is 24 m long. [1:2b]\n@s 2\n@s 9", UPDATE)
    (article,) = reply.articles
    assert [s.text for s in sentences(article)] == ["It hoists.", "It runs.", "It is 24 m long."]
    assert sentences(article)[1].mark == "derived"
    assert [f.why for f in faults] == ["s2 cannot be kept", "s9 cannot be kept"]
    assert [c.question for c in article.cards] == ["What stays?"]
    again, _ = write("=== Halyard\n@s1-3\n=== CARDS\nK: app\nQ: How long is it?\nA: 24 m.\nC: 1:2b", UPDATE)
    assert [c.question for c in again.articles[0].cards] == ["What stays?", "How long is it?"]


@pytest.mark.parametrize(
    "answer", ["", "Sure! Here is the page you asked for.", '{"articles": []}', "=== Keel\nA fin. [1:1a]"]
)
def test_an_answer_in_another_form_is_no_article(answer: str) -> None:
    reply, faults = write(answer)
    assert not is_usable(REQUEST, reply) and faults
    assert [a.title for a in reply.articles] == [a.title for a in nothing(REQUEST).articles]  # type: ignore[union-attr]


def test_hostile_answers_neither_forge_markup_nor_speak_for_other_requests() -> None:
    article, faults = halyard(
        "A halyard hoists a sail <script>alert()</script>. [1:1a]\n\n"
        "A halyard hoists a sail ![[raw/secret.png]]. [1:1a]\n\n"
        "A halyard hoists \x1b[31ma sail\u202e. [1:1a]\n\n"
        "## [x](https://evil.example) <!-- card 1111111111 abcdef -->\n\n"
        "It runs over a block. [1:1b]\n\n"
        f"It hoists {'and hoists ' * 600}a sail. [1:1a]\n\n"
        "```\n=== Keel\nIt hoists a sail. [1:1a]\n```\n"
    )
    said = " ".join([*(s.heading for s in article.sections), *(s.text for s in sentences(article))])
    assert not any(bad in said for bad in ("<script", "evil", "[[", "](", "\x1b", "\u202e", "<!--"))
    assert [s.heading for s in article.sections] == ["", "x"]
    assert {f.why for f in faults} >= {"the text is too long"}


@pytest.mark.parametrize("around", ["```markdown\n{}```\n", "Here are the pages:\n\n```\n{}\n```\nI hope they help.\n"])
def test_a_fence_around_an_answer_does_no_harm(around: str) -> None:
    reply, faults = write(around.format(GOOD))
    assert faults == [] and [bool(a.sections) for a in reply.articles] == [True, True]
    assert reply.articles[0].sections == write(GOOD)[0].articles[0].sections


def test_a_card_whose_answer_is_the_title_above_it_is_refused() -> None:
    card = "K: definitional\nQ: Which rope hoists a sail?\nA: A halyard.\nC: 1:1a"
    answer = f"=== Halyard\nA halyard hoists a sail. [1:1a]\n=== CARDS Halyard\n{card}"
    reply, faults = parse(REQUEST, answer)
    assert isinstance(reply, WriteReply) and reply.articles[0].cards == ()
    assert any("the page's title" in fault.why for fault in faults)


@pytest.mark.parametrize("between", ["", "\n\n"])
def test_words_that_lead_to_a_list_stand_right_before_it(between: str) -> None:
    article, faults = halyard(
        f"A halyard hoists a sail. [1:1a] {between}The steps are:\n\n1. Take up the slack. [1:4d]"
    )
    assert not faults
    assert [s.text for s in sentences(article)] == ["A halyard hoists a sail.", "The steps are:", "Take up the slack."]


def test_a_link_within_a_sentence_is_written_as_the_documents_write_it() -> None:
    article, _ = halyard("[[Rope]] is what the [[Rope]] of a [[Capstan]] is. [1:1a]")
    (said,) = sentences(article)
    assert said.text == "Rope is what the rope of a Capstan is." and said.links[:2] == (
        ("Rope", "Rope"),
        ("rope", "Rope"),
    )


def test_what_a_sentence_says_of_a_page_to_see_stays() -> None:
    article, _ = halyard("See [[Capstan]] for the rope. [1:1a] See [[Sheet]].")
    assert [s.text for s in sentences(article)] == ["See Capstan for the rope."] and article.see == ("Sheet",)


def test_words_that_lead_to_nothing_before_the_next_heading_are_a_fault() -> None:
    article, faults = halyard(
        "A halyard hoists a sail. [1:1a]\n\nThe steps are:\n\n## Rope\n\nIt hoists a sail. [1:1a]"
    )
    assert [f.words for f in faults] == ["The steps are:"] and len(sentences(article)) == 2


def test_no_answer_embeds_a_page_or_acts_in_a_formula() -> None:
    article, _ = halyard("A halyard hoists ![[Sheet]] a sail. [1:1a]")
    assert sentences(article)[0].text == "A halyard hoists sheet a sail."
    for said in (r"`` x ` $\href{javascript:x}{y}$ `", r"A sail $\bbox[background:url(//e.example)]{x}$"):
        assert halyard(f"A halyard hoists {said}. [1:1a]")[1]
