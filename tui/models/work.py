"""The words and rows of jobs: the menu, a running job's steps, time and cost, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.state.job_state import Stage, WorkState, count
from vault.text.formatting import plural

TITLE = "Jobs"
MENU_TITLE = "Start a job"
ASK_ADD = "File, folder or web address to add:"
ASK_IMPORT = (
    "File or folder to import: an Anki package (.apkg, .colpkg), a table (.csv, .tsv), a folder of notes with cards "
    "for Obsidian's Spaced Repetition plugin, decks from hashcards or repeater, or an export from Mochi, Mnemosyne, "
    "RemNote or retain:"
)
ASK_EXPORT = ".apkg file to write:"
ASK_HOW = "tab completes the path, enter starts, esc goes back"
DOING = {
    "compile": "compiling",
    "rebuild": "rebuilding",
    "import": "importing",
    "export": "exporting",
    "add": "adding",
    "sync": "syncing",
    "optimize": "optimizing",
    "init": "creating",
    "ask": "asking",
}
DONE = {
    "compile": "Compiled",
    "rebuild": "Rebuilt",
    "import": "Imported",
    "export": "Exported",
    "add": "Added",
    "sync": "Synced",
    "optimize": "Optimized",
    "init": "Created",
    "ask": "Answered",
}
STAGES = {
    "source": "Reading the documents",
    "compose": "Writing articles",
    "cards": "Writing cards",
    "read": "Finding concepts",
    "settle": "Merging duplicate names",
    "write": "Writing pages",
    "check": "Checking sentences",
    "reconcile": "Comparing claims",
    "batch": "Waiting for the batch request to finish",
    "save": "Saving",
    "copy": "Copying",
    "fetch": "Fetching",
    "fit": "Optimizing the parameters",
    "reviews": "Importing reviews",
    "export": "Writing the package",
    "changes": "Sending changes to Anki",
}
STARTING = "Starting …"
FINDINGS = "Problems found"
NOTICES = "Notices"
WHERE_ADDED, KNOWN = "Added to the vault as", "Already in the vault as"
WHY_LEFT_OUT = "Skipped, and why"
FAILURES = "Could not be read or imported"
STOPPING = "Stopping … Results saved so far are kept."
CANCELLED, WITH_FINDINGS, WENT_WRONG = "was cancelled", "done, with problems", "failed"
STOPPED = "Cancelled. Saved results are kept; run the command again to continue."
PARTLY = "Finished with problems:"
NOTHING_NEW = "No changes."
OFFLINE = "offline: no cost"
ON_MEANWHILE = "You can keep using the app; each screen shows the progress at the top."
ADDED_NEXT = "Compile to create articles and cards from the added files."
INTERRUPTED = 130
_VERBS = {"ours": "created here", "strange": "created elsewhere", "known": "already known"}


def in_short(state: WorkState | None) -> str:
    """Return the line at the top of every screen: `compiling 3 of 20`; "" without a job."""
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
    """Return the progress of a step: `3 of 20`; "" before it has begun."""
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
    """Return tokens and dollars, or that no model was used."""
    tokens = int(state.cost.get("input_tokens", 0)), int(state.cost.get("output_tokens", 0))
    if not any(tokens) and not state.cost.get("usd", 0):
        return OFFLINE
    return f"{tokens[0]:,} tokens in, {tokens[1]:,} out · ${state.cost.get('usd', 0):.2f}"


def head(state: WorkState) -> str:
    """Return the outcome of a finished job in one sentence."""
    name = DONE.get(state.name, state.name)
    if was_stopped(state):
        return STOPPED
    if state.error is not None or state.code not in (0, 1):
        return f"{DOING.get(state.name, state.name).capitalize()} failed."
    if state.code == 1:
        return PARTLY
    if state.result.get("written") == []:
        return NOTHING_NEW
    return f"{name} in {length(state.seconds(state.began))}."


def made(state: WorkState) -> list[tuple[str, str]]:
    """Return the result of a finished job as rows of (noun, counts)."""
    result = state.result
    rows: list[tuple[str, str]] = []
    for noun in ("sources", "articles", "topics", "claims", "cards", "notes", "reviews", "marks", "media"):
        counts = _counts(result.get(noun))
        if counts:
            rows.append((noun, counts))
    gaps = result.get("gaps")
    if isinstance(gaps, dict):
        rows.append(("gaps", _counts(gaps) or "none"))
    unused = result.get("unused")
    if isinstance(unused, list) and unused and result.get("written"):
        rows.append(("unused", f"{plural(len(unused), 'source')} not used in any article or card"))
    if count(result, "inbox"):
        rows.append(("inbox", f"{count(result, 'inbox'):,} waiting for your decision"))
    added = result.get("added")
    if isinstance(added, list):
        rows.append(("added", plural(len(added), "file")))
    there = result.get("unchanged")
    if isinstance(there, list) and there:
        rows.append(("known", plural(len(there), "file") + " already in the vault"))
    if state.name == "export":
        rows += [("file", str(result.get("path", ""))), ("next", "in Anki, choose File > Import")]
    if state.name == "optimize":
        rows.append(("result", _fitted(result)))
    return rows


def more(left: int) -> str:
    return f"and {left:,} more"


def reasons(state: WorkState) -> list[str]:
    """Return why an import skipped items, or what it imported them without, the most frequent reasons first."""
    left_out, kinds = state.result.get("left_out"), state.result.get("note_types")
    reported: list[tuple[int, str]] = []
    if isinstance(left_out, Mapping):
        reported += [(count(left_out, why), f"{plural(count(left_out, why), 'review')}: {why}") for why in left_out]
    for name, kind in kinds.items() if isinstance(kinds, Mapping) else ():
        for key, what in (("reported", ""), ("without", "imported without ")):
            for each in kind.get(key) or () if isinstance(kind, Mapping) else ():
                if cards := count(each, "cards") if isinstance(each, Mapping) else 0:
                    words = f"{plural(cards, 'card')} of the note type {name}: {what}{each.get('reason', '')}"
                    reported.append((cards, words))
    return [words for _, words in sorted(reported, key=lambda one: -one[0])]


def _counts(numbers: Any) -> str:
    """Return `3 created, 2 updated`, without zeros."""
    if isinstance(numbers, int) and not isinstance(numbers, bool) and numbers:
        return f"{numbers:,}"
    if not isinstance(numbers, Mapping):
        return ""
    pairs = [(_VERBS.get(str(verb), str(verb).replace("_", " ")), count(numbers, verb)) for verb in numbers]
    return ", ".join(f"{number:,} {verb}" for verb, number in pairs if number)


def _fitted(result: Mapping[str, Any]) -> str:
    if result.get("kept") is True:
        return f"applied the new parameters: they fit your {count(result, 'reviews'):,} reviews better"
    more, later = count(result, "missing_reviews"), count(result, "missing_later_reviews")
    if more or later:
        return f"not enough reviews yet: {more or later:,} more needed"
    return "parameters unchanged: new ones would not predict your recall any better"
