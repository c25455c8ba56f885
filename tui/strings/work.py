"""What is said of long work: while it runs, when it is over, and of what could be begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.state.job_state import Stage, WorkState, count
from tui.text.formats import counted

TITLE = "Work"
MENU_TITLE = "What shall be done?"
MENU = {  # the words of a command, what it is called, what it does
    "compile": ("Compile", "make articles and cards of what is new in raw/"),
    "add": ("Add a document", "a file, a folder or a web page, into raw/"),
    "import": ("Import from Anki", "cards and reviews of an .apkg or .colpkg file"),
    "sync": ("Sync with Anki", "cards there, reviews back; Anki has to run"),
    "optimize": ("Fit the scheduler", "learn from your reviews how you forget"),
    "rebuild": ("Rebuild", "make everything anew; the same bytes come out"),
}
ENDING = "retain: ending the work that was going on"
ASK_ADD = "A file, a folder or a web address:"
ASK_IMPORT = "An .apkg or .colpkg file:"
ASK_HOW = "tab completes a name, enter begins, esc goes back"
DOING = {
    "compile": "compiling",
    "rebuild": "rebuilding",
    "import": "importing",
    "add": "adding",
    "sync": "syncing",
    "optimize": "fitting",
    "init": "making",
}
DONE = {
    "compile": "Compiled",
    "rebuild": "Rebuilt",
    "import": "Imported",
    "add": "Added",
    "sync": "Synced",
    "optimize": "Fitted",
    "init": "Made",
}
STAGES = {
    "source": "Reading the documents",
    "compose": "Writing articles",
    "cards": "Writing cards",
    "write": "Saving",
    "copy": "Copying",
    "fetch": "Fetching",
    "fit": "Fitting to your reviews",
    "reviews": "Taking in reviews",
    "changes": "Sending changes to Anki",
}
STARTING = "Starting …"
FINDINGS = "Noticed on the way"
WHY_LEFT_OUT = "Left out, and why"
FAILURES = "Could not be read or taken"
STOPPING = "Ending … what has been saved stays saved."
CANCELLED, WITH_FINDINGS, WENT_WRONG = "was cancelled", "done, with findings", "failed"
STOPPED = "Cancelled. What had been saved stays saved; the same work again goes on from there."
FAILED = "It did not come to its end."
PARTLY = "Done, but for what is named below."
NOTHING_NEW = "Nothing has changed, so nothing was written."
OFFLINE = "offline: costs nothing"
ON_MEANWHILE = "You can go on meanwhile; the head of each screen says how far it is."
ADDED_NEXT = "Compile makes articles and cards of it."
INTERRUPTED = 130
_VERBS = {"ours": "made here", "strange": "made elsewhere", "known": "known already"}


def in_short(state: WorkState | None) -> str:
    """At the head of every screen: `compiling 3 of 20`; "" with nothing to say."""
    if state is None:
        return ""
    doing = DOING.get(state.name, state.name)
    if state.running:
        stage = state.stage
        return f"{doing} {stage.done} of {stage.of}" if stage is not None and stage.of else f"{doing} …"
    if state.code == 0:
        return f"{doing} done"
    how = CANCELLED if was_stopped(state) else WITH_FINDINGS if state.code == 1 else WENT_WRONG
    return f"{doing} {how}"


def was_stopped(state: WorkState) -> bool:
    return state.stopping or state.code in (INTERRUPTED, -2, -15, -9)


def stage(one: Stage) -> str:
    return STAGES.get(one.name, one.name)


def step(one: Stage) -> str:
    """How far a step is: `3 of 20`; "" before it has begun."""
    return f"{one.done:,} of {one.of:,}" if one.of else ""


def time(seconds: float, left: float | None) -> str:
    spent = f"{length(seconds)} so far"
    return spent if left is None else f"{spent} · about {length(left)} more for this step"


def length(seconds: float) -> str:
    """`8 s`, `1 min 05 s`, `1 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def cost(state: WorkState) -> str:
    """Tokens and dollars; without any, that nothing was asked of a model."""
    tokens = int(state.cost.get("input_tokens", 0)), int(state.cost.get("output_tokens", 0))
    if not any(tokens) and not state.cost.get("usd", 0):
        return OFFLINE
    return f"{tokens[0]:,} tokens in, {tokens[1]:,} out · ${state.cost.get('usd', 0):.2f}"


def head(state: WorkState) -> str:
    """What became of it, in one sentence."""
    name = DONE.get(state.name, state.name)
    if was_stopped(state):
        return STOPPED
    if state.error is not None or state.code not in (0, 1):
        return FAILED
    if state.code == 1:
        return PARTLY
    if state.result.get("written") == []:
        return NOTHING_NEW
    return f"{name} in {length(state.seconds(state.began))}."


def made(state: WorkState) -> list[tuple[str, str]]:
    """What came of it as rows of (noun, what of it)."""
    result = state.result
    rows: list[tuple[str, str]] = []
    for noun in ("sources", "articles", "topics", "claims", "cards", "notes", "reviews", "marks", "media"):
        told = _counts(result.get(noun))
        if told:
            rows.append((noun, told))
    gaps = result.get("gaps")
    if isinstance(gaps, dict):
        rows.append(("gaps", _counts(gaps) or "none"))
    if count(result, "inbox"):
        rows.append(("inbox", f"{count(result, 'inbox'):,} wait for your word"))
    added = result.get("added")
    if isinstance(added, list):
        rows.append(("added", counted(len(added), "file")))
    there = result.get("unchanged")
    if isinstance(there, list) and there:
        rows.append(("known", counted(len(there), "file") + " that was there already"))
    if state.name == "optimize":
        rows.append(("result", _fitted(result)))
    return rows


def reasons(state: WorkState) -> list[str]:
    """Why an import did not take in some of what it found, the most frequent reasons first."""
    left_out, kinds = state.result.get("left_out"), state.result.get("note_types")
    told: list[tuple[int, str]] = []
    if isinstance(left_out, Mapping):
        told += [(count(left_out, why), f"{counted(count(left_out, why), 'review')}: {why}") for why in left_out]
    for name, kind in kinds.items() if isinstance(kinds, Mapping) else ():
        for each in kind.get("reported") or () if isinstance(kind, Mapping) else ():
            cards = count(each, "cards") if isinstance(each, Mapping) else 0
            if cards:
                told.append((cards, f"{counted(cards, 'card')} of the note type {name}: {each.get('reason', '')}"))
    return [words for _, words in sorted(told, key=lambda one: -one[0])]


def _counts(numbers: Any) -> str:
    """`3 created, 2 updated`: those that are not 0."""
    if isinstance(numbers, int) and not isinstance(numbers, bool) and numbers:
        return f"{numbers:,}"
    if not isinstance(numbers, Mapping):
        return ""
    pairs = [(_VERBS.get(str(verb), str(verb).replace("_", " ")), count(numbers, verb)) for verb in numbers]
    return ", ".join(f"{number:,} {verb}" for verb, number in pairs if number)


def _fitted(result: Mapping[str, Any]) -> str:
    if result.get("kept") is True:
        return f"the new parameters foretell your {count(result, 'reviews'):,} reviews better, and are used now"
    more, later = count(result, "missing_reviews"), count(result, "missing_later_reviews")
    if more or later:
        return f"too few reviews to fit to: {counted(more or later, 'review')} more are wanted"
    return "the parameters stay as they are: new ones would foretell no better"
