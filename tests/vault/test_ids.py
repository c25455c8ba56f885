import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from vault.ids import ID, free_slug, mint, slug, ulid


@given(st.text())
def test_a_slug_is_a_safe_file_name(title: str) -> None:
    name = slug(title)
    assert 0 < len(name) <= 60 and len(name.encode()) <= 180
    assert unicodedata.is_normalized("NFC", name)
    assert all(c == "-" or unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in name)
    assert name[0] != "-" and name[-1] != "-"


def test_slugs_keep_any_script_and_avoid_device_names() -> None:
    assert [slug(t) for t in ("KV cache", "注意力 机制", "Überblick – X", "CON", "???", "C++")] == [
        "kv-cache", "注意力-机制", "überblick-x", "con-x", "untitled", "c"
    ]  # fmt: skip


def test_names_that_collide_take_four_characters_of_their_id() -> None:
    taken: set[str] = set()
    slugs = []
    for title, id_ in (("C", "1111111111"), ("C++", "2222222222"), ("C#", "2222333333")):
        slugs.append(free_slug(title, id_, taken))
        taken.add(slugs[-1].casefold())
    assert slugs == ["c", "c-2222", "c-2222333333"]


@given(st.text(), st.text())
def test_an_id_is_ten_characters_the_same_everywhere_and_never_taken(noun: str, birth: str) -> None:
    first = mint(noun, birth)
    assert ID.fullmatch(first) and mint(noun, birth) == first
    assert mint(noun, birth, {first}) != first


def test_a_ulid_sorts_by_its_time() -> None:
    assert len(ulid(1, b"0" * 10)) == 26
    assert ulid(1_763_700_000_000, b"\xff" * 10) < ulid(1_763_700_000_001, b"\x00" * 10)
