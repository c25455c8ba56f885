"""What a document says is shown in Anki and does nothing there; math and code live."""

from __future__ import annotations

import html
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.anki.field_html import field, field_of_words, inert
from vault.text.formatting import clean

_OURS = re.compile(
    r"</?(?:em|strong|code|pre|p|ul|li|blockquote|h[1-6])>|<ol(?: start=\"\d+\")?>|</ol>|<br>|<hr>"
    r"|<code class=\"language-[\w+#.-]+\">"
)
HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "![x](http://tracker.example/a.png)",
    "<http://tracker.example>",
    "[x]: http://tracker.example\n\n[x]",
    "[sound:evil.mp3]",
    "[latex]\\input{/etc/passwd}[/latex]",
    "[$]\\write18{x}[/$]",
    "[$$]x[/$$]",
    "[anki:tts lang=en_US]x[/anki:tts]",
    "{{FrontSide}} {{c1::x}} {{Question}}",
    "\\(\\href{javascript:alert(1)}{x}\\)",
    "\\\\(x\\\\) \\\\[x\\\\]",
    "$\\href{javascript:alert(1)}{x}$",
    "$$\\bbox[background:url(http://tracker.example)]{x}$$",
    "$\\def\\frac{x}$",
    "$[sound:evil.mp3]$",
    "${{c1::x}}$",
    "$<img src=x onerror=alert(1)>$",
    "`<b>[sound:x] {{x}}`",
    "```html\n<script>alert(1)</script>[latex]x[/latex]\n```",
    '```"onload=alert(1) x\nx\n```',
    "&lt;script&gt; &#60;b&#62; &#91;sound:x&#93;",
    "a\x1fb\x00c\x1b[31md\u202ee",
    "<!-- x --> <![CDATA[x]]> <?php x ?>",
    "<div\n\nonclick=x>",
]


def assert_dead(shown: str) -> None:
    rest = _OURS.sub("", shown)
    assert "<" not in rest and ">" not in rest
    assert not re.search(r"\[(?:sound|latex|/latex|\$|anki)", shown)
    assert "{{" not in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", shown)
    for formula in re.findall(r"\\\((.*?)\\\)|\\\[(.*?)\\\]", html.unescape(shown), re.DOTALL):
        assert not re.search(r"\\(?:href|bbox|def|require|input)", "".join(formula))


@pytest.mark.parametrize("text", HOSTILE)
def test_what_anki_would_run_is_dead(text: str) -> None:
    for shown in (field(text), field_of_words(text), inert(text)):
        assert_dead(shown)


@given(st.lists(st.sampled_from([*HOSTILE, "$", "`", "\\", "\n", "\n\n", "[", "]", "{", "}", "<", "a "]), max_size=8))
def test_no_mixture_of_hostile_parts_comes_alive(parts: list[str]) -> None:
    assert_dead(field("".join(parts)))


@given(st.text(max_size=60))
def test_inert_text_shows_its_very_characters(text: str) -> None:
    shown = inert(text)
    assert html.unescape(shown).replace("\u2060", "") == clean(text).replace("\u2060", "")
    assert not set("<>[]{}") & set(shown)


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("What is *it*?", "What is <em>it</em>?"),
        ("$a_b < c_d$", r"\(a_b &lt; c_d\)"),
        ("so $$\\frac{{a}}{b}$$ holds", r"so \[\frac{ {a}}{b}\] holds"),
        ("$$\nx + y\n$$", r"\[x + y\]"),
        ("$a[i]$ and $x$", r"\(a[i]\) and \(x\)"),
        (r"costs \$5 and $6 or $7", "costs $5 and $6 or $7"),
        ("`a[0] < {b}`", "<code>a&#91;0&#93; &lt; &#123;b&#125;</code>"),
        ("`$x$`", "<code>$x$</code>"),
        ("```py\nif a < b:\n    $x$\n```", '<pre><code class="language-py">if a &lt; b:\n    $x$</code></pre>'),
        ("```dataviewjs\nx\n```", "<pre><code>x</code></pre>"),
        (r"a \* b \[c\] \`d\`", "a * b &#91;c&#93; `d`"),
        ("one\ntwo", "one<br>\ntwo"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("- $x$\n- y", "<ul>\n<li>\\(x\\)</li>\n<li>y</li>\n</ul>"),
        ("see [[wiki/concepts/kv-cache|KV cache]] and [[wiki/x]]", "see KV cache and x"),
        ("[text](http://example.org) ![alt](x.png)", "text alt"),
        ("a ~~b~~", "a <s>b</s>"),
        (
            "| a | b |\n| --- | ---: |\n| <x> | [y](javascript:z) |",
            '<table>\n<thead>\n<tr>\n<th>a</th>\n<th style="text-align:right">b</th>\n</tr>\n</thead>\n'
            '<tbody>\n<tr>\n<td>&lt;x&gt;</td>\n<td style="text-align:right">&#91;y&#93;(javascript:z)</td>\n</tr>\n'
            "</tbody>\n</table>",
        ),
        ("Überblick 注意力 🧠", "Überblick 注意力 🧠"),
    ],
)
def test_markdown_is_shown_as_it_is_meant(markdown: str, shown: str) -> None:
    assert field(markdown) == shown


def test_words_of_a_source_are_no_markdown() -> None:
    assert field_of_words("2 * 3 * 4 # not [a](link) but $x^2$") == "2 * 3 * 4 # not &#91;a&#93;(link) but \\(x^2\\)"


@pytest.mark.parametrize("part", ["[", "![[", "*a ", "`", "$", "> "])
def test_a_bomb_is_defused_in_time(part: str) -> None:
    for size in (8_000, 60_000):
        began = time.process_time()  # of this process alone: a busy machine is no bomb
        shown = field((part * size)[:size])
        assert time.process_time() - began < 10  # without a bound it is minutes
        assert "[" not in shown and "{" not in shown


@given(st.text(alphabet="ab1é漢 .,;:?!'\"()/%+-_*`<&[\\\n#=~", max_size=20) | st.text(max_size=12))
def test_a_plain_line_is_shown_as_the_parser_would_show_it(text: str) -> None:
    plain = field(text)
    with_a_mark = field(text + " *x*")  # an emphasis sends it through the parser of Markdown
    if text.strip() == text and text and re.fullmatch(r"[^\W\d_](?:[^\W_]|[ .,;:?!'\"()/%+–—’“”-])*", text):
        assert with_a_mark == plain + " <em>x</em>"
