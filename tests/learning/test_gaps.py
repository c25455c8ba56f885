from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning.agenda.gap_decisions import Decision, decide, find, open_by_kind, read_agenda
from vault.config.settings import Settings
from vault.errors import NotFound, Refused, UsageError
from vault.ids import GapId
from vault.layout import GAPS
from vault.log import ledger
from vault.model.gaps import Gap, GapKind, GapStatus, parse_agenda, render_agenda
from vault.vault import Vault

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
SOFTMAX = Gap(GapId("aaaaaaaaaa"), GapKind.STRUCTURAL, "softmax", "4 articles mention it", "a source on softmax")
DROPOUT = Gap(GapId("aaaabbbbbb"), GapKind.STRUCTURAL, "dropout", "2 articles mention it", "a source on dropout")
SPACING = Gap(GapId("bbbbbbbbbb"), GapKind.EPISTEMIC, "spacing", "no evidence of use", "an experiment")


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "learning").mkdir()
    (tmp_path / GAPS).write_text(render_agenda([SOFTMAX, DROPOUT, SPACING]), encoding="utf-8")
    return Vault(tmp_path, Settings("0" * 26, "test"))


def decisions(vault: Vault) -> list[ledger.Event]:
    return ledger.ordered(vault.ledger_events(ledger.DECISIONS)[0])


def test_a_decision_is_in_the_ledger_and_in_the_agenda(vault: Vault) -> None:
    gap = decide(vault, "aaaaaaaaaa", Decision.RESOLVE, NOW, via="tui")
    assert gap.status is GapStatus.RESOLVED
    assert decisions(vault) == [
        {
            "v": 1,
            "type": "gap",
            "gap": "aaaaaaaaaa",
            "decision": "resolve",
            "below": "",
            "at": "2026-11-22T09:00:00.000Z",
            "via": "tui",
        }
    ]
    assert "- [x] (structural, resolved) **softmax**" in (vault.root / GAPS).read_text(encoding="utf-8")
    assert [g.what for g in open_by_kind(read_agenda(vault))[GapKind.STRUCTURAL]] == ["dropout"]


def test_the_last_of_several_decisions_counts_even_if_the_clock_goes_back(vault: Vault) -> None:
    decide(vault, "bbbbbbbbbb", Decision.PLAN, NOW)
    decide(vault, "bbbbbbbbbb", Decision.IGNORE, NOW)
    decide(vault, "bbbbbbbbbb", Decision.REOPEN, NOW - timedelta(days=3))
    assert [e["decision"] for e in decisions(vault)] == ["plan", "ignore", "reopen"]
    assert find(read_agenda(vault), "bbbbbbbbbb").status is GapStatus.OPEN


def test_what_is_opened_again_comes_back_to_its_place_and_the_file_to_its_bytes(vault: Vault) -> None:
    more = [replace(SOFTMAX, id=GapId("g" * 9 + end), what=f"gap {end}") for end in "abc"]
    (vault.root / GAPS).write_text(render_agenda([SOFTMAX, DROPOUT, *more, SPACING]), encoding="utf-8")
    before = (vault.root / GAPS).read_bytes()
    steps = [(GapId("aaaabbbbbb"), Decision.IGNORE), (more[1].id, Decision.RESOLVE), (SOFTMAX.id, Decision.IGNORE)]
    steps += [(more[0].id, Decision.RESOLVE)]
    for n, (gap, decision) in enumerate(steps):
        decide(vault, gap, decision, NOW + timedelta(minutes=n))
    for n, (gap, _) in enumerate(reversed(steps)):
        decide(vault, gap, Decision.REOPEN, NOW + timedelta(hours=1 + n))
    assert (vault.root / GAPS).read_bytes() == before


def test_an_id_may_be_shortened_as_long_as_it_fits_one_gap(vault: Vault) -> None:
    assert find(read_agenda(vault), "^g-AAAAB").what == "dropout"
    for unfit in ("aaaa", "zzz", "", "^g-"):
        with pytest.raises(NotFound):
            decide(vault, unfit, Decision.PLAN, NOW)
    assert decisions(vault) == []


def test_what_is_so_already_is_not_decided_again(vault: Vault) -> None:
    decide(vault, "aaaab", Decision.PLAN, NOW)
    with pytest.raises(UsageError, match="already planned"):
        decide(vault, "aaaab", Decision.PLAN, NOW)
    filled = Gap(GapId("cccccccccc"), GapKind.EPISTEMIC, "x", "y", "z", (), GapStatus.FILLED)
    (vault.root / GAPS).write_text(render_agenda([filled]), encoding="utf-8")
    with pytest.raises(UsageError, match="fills this gap"):
        decide(vault, "cccc", Decision.RESOLVE, NOW)
    assert len(decisions(vault)) == 1


def test_a_decision_leaves_every_other_gap_and_its_tick_as_they_were(vault: Vault) -> None:
    path = vault.root / GAPS
    path.write_text(
        path.read_text(encoding="utf-8").replace("- [ ] (structural) **drop", "- [x] (structural) **drop"), "utf-8"
    )
    decide(vault, "bbbb", Decision.IGNORE, NOW)
    by_name = {g.what: g for g in read_agenda(vault)}
    assert by_name["dropout"].ticked and by_name["dropout"].open
    assert by_name["softmax"].status is GapStatus.OPEN


def test_without_a_place_for_the_ledger_nothing_changes(vault: Vault) -> None:
    before = (vault.root / GAPS).read_bytes()
    (vault.root / ledger.DECISIONS).mkdir(parents=True)
    with pytest.raises(Refused):
        decide(vault, "bbbb", Decision.IGNORE, NOW)
    assert (vault.root / GAPS).read_bytes() == before


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(list(Decision))), max_size=8))
def test_the_agenda_shows_what_the_ledger_says(steps: list[tuple[str, Decision]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        vault = Vault(Path(folder).resolve(), Settings("0" * 26, "test"))
        (vault.root / "learning").mkdir()
        (vault.root / GAPS).write_text(render_agenda([SOFTMAX, SPACING]), encoding="utf-8")
        said = {"a": "open", "b": "open"}
        for gap, decision in steps:
            word = {"resolve": "resolved", "ignore": "ignored", "plan": "planned", "reopen": "open"}[decision]
            if said[gap] != word:
                decide(vault, gap * 10, decision, NOW)
                said[gap] = word
        shown = {g.id[0]: g.status.value for g in parse_agenda((vault.root / GAPS).read_text(encoding="utf-8"))}
        assert shown == said
