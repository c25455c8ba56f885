import re

from vault.ids import ClaimId
from vault.model.wikilink import Citation, Wikilink, citations, links, note_link, only_citations, raw_link

TEXT = (
    "It scales.[[wiki/summaries/a-b#^c-51e09ab2xy|2]] See [[wiki/concepts/kv-cache|KV cache]]"
    " and ![[raw/images/x.png]]."
)


def test_links_and_citations_are_found_and_written_back() -> None:
    assert [str(link) for link in links(TEXT)] == [
        "[[wiki/summaries/a-b#^c-51e09ab2xy|2]]", "[[wiki/concepts/kv-cache|KV cache]]", "![[raw/images/x.png]]"
    ]  # fmt: skip
    assert citations(TEXT) == (Citation("wiki/summaries/a-b", ClaimId("51e09ab2xy"), 2),)
    assert str(citations(TEXT)[0]) == "[[wiki/summaries/a-b#^c-51e09ab2xy|2]]"


def test_in_a_table_the_bar_is_escaped_and_still_read() -> None:
    link = Wikilink("wiki/concepts/kv-cache", alias="KV cache")
    assert link.in_table() == "[[wiki/concepts/kv-cache\\|KV cache]]"
    assert next(links(link.in_table())) == link


def test_support_is_citations_and_nothing_else() -> None:
    assert only_citations(" [[wiki/summaries/a#^c-51e09ab2xy|1]] [[wiki/summaries/b#^c-51e09ab2xz|2]]\n")
    assert not only_citations("see [[wiki/summaries/a#^c-51e09ab2xy|1]]") and not only_citations("")


def test_hostile_titles_and_names_stay_inside_their_link() -> None:
    assert note_link("wiki/concepts/x.md", "a]] [[insights/b|c\n") == "[[wiki/concepts/x|a insights/b c]]"
    title = "Gamma <img src=https://e.vil/x.png> `$=dv.pages()` **b** ==m== %%c%% #tag C# $x$ a:: b \\"
    shown = note_link("wiki/concepts/x.md", title)
    assert not set("<>`$*\\") & set(shown) and not re.search(r"==|%%|::| #", shown) and "C#" in shown
    name = "p#<img src=https:e.vil> **b**.png"
    assert raw_link(f"raw/images/{name}", name) == (
        "[p\\#\\<img src=https:e.vil\\> \\*\\*b\\*\\*.png]"
        "(<raw/images/p%23%3Cimg%20src%3Dhttps%3Ae.vil%3E%20%2A%2Ab%2A%2A.png>)"
    )
    assert raw_link("raw/a\nb <i>.md", "a\nb <i>.md") == "[a b \\<i\\>.md](<raw/a%0Ab%20%3Ci%3E.md>)"
    assert raw_link("raw/#hash [brackets] | pipe.md", "t") == "[t](<raw/%23hash%20%5Bbrackets%5D%20%7C%20pipe.md>)"
    assert raw_link("raw/papers/名前.pdf", "名前") == "[[raw/papers/名前.pdf|名前]]"
