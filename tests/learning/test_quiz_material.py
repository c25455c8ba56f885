"""What a quiz is about: an article by its name, or those of a topic."""

from __future__ import annotations

from learning.review.quiz_material import readings
from vault.vault import Vault

ARTICLE = """---
type: concept
---

# Forgetting curve

Retention falls steeply. [[wiki/summaries/memory#^c-aaaaaaaaa1|1]]
"""


def test_an_article_that_cannot_be_read_is_in_the_way_of_no_other(vault: Vault) -> None:
    folder = vault.root / "wiki/concepts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a-damaged-one.md").write_bytes(b"# Forgetting \xff\xfe curve\n")
    (folder / "zz-renamed.md").write_text(ARTICLE)
    name, found = readings(vault, "forgetting curve")
    assert name == "Forgetting curve" and len(found) == 1
