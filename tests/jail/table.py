"""docs/attacks.md: every attack, and what comes of it at each level. `python -m tests.jail.table` writes it."""

from __future__ import annotations

from pathlib import Path

from tests.jail.alone import OF_A_WORKER
from tests.jail.attacks import registry
from tests.jail.attacks.registry import Attack
from tests.jail.expected import EXPECTED, LEVELS, STOPPED, Passes

PAGE = Path(__file__).resolve().parents[2] / "docs/attacks.md"
HEAD = """# What was tried against the cage

Every attack below is run from inside each level by `make torture`, and from inside one of them, another each day, by
`make test`. It is judged from outside: another process compares
every byte, name, mode, owner, time and attribute of the whole scene, and looks for secrets of the personal vault
wherever an agent could carry them. Each is first run without a cage, where it must succeed: an attack that fails by
itself proves nothing. At each level, {controls} controls (write a page, replace it, run a shell, git and node, talk to
a child, reach the network) must work in the same run, so that nothing is stopped by stopping everything. The tests fail
if anything gets through that is not marked here, and if something marked no longer does.

"through": what is the human's was changed. "leaked": something secret could be read. "metadata": mode, owner, time or
attributes changed, and nothing else. "–": cannot be tried there. `worker` is the process that reads documents; the
other levels are those of `retain guard run`. This page is written by `python -m tests.jail.table`.
"""
_THEMES = {
    "plain": "Straight at the folder",
    "content": "Other ways to bring bytes into a file",
    "links": "Links, exchanges and races",
    "names": "Other names for the same folder",
    "metadata": "What stands about a file",
    "programs": "Programs that agents call",
    "git": "git",
    "cage_files": "The bars themselves: settings, hooks, start-up files, retain's own code",
    "ledgers": "Memory: the review log and the ledgers",
    "mounts": "Mounts, namespaces and roots",
    "processes": "Other processes, and time",
    "sockets": "Deputies: programs outside that do what they are asked",
    "ipc": "Queues, shared memory and keys",
    "machine": "The machine",
    "secrets": "Secrets",
    "inherited": "What was open before",
}


def render() -> str:
    """The whole page."""
    attacks = registry.load()
    controls = [a for a in attacks.values() if a.control and "full" in a.levels]
    notes: list[Passes] = []
    parts = [HEAD.format(controls=len(controls))]
    for theme, title in _THEMES.items():
        rows = [_row(each, notes) for each in attacks.values() if each.theme == theme and not each.control]
        head = ["", f"## {title}", "", "| attack | " + " | ".join(LEVELS.values()) + " |", "|---" * 6 + "|"]
        parts += [*head, *rows]
    parts += ["", "## Notes", ""]
    parts += [f"{n}. {_sentence(note)}" for n, note in enumerate(notes, 1)]
    return "\n".join(parts) + "\n"


def _row(attack: Attack, notes: list[Passes]) -> str:
    cells = [_cell(attack, level, notes) for level in LEVELS]
    return f"| {attack.title.replace('|', chr(92) + '|')} | " + " | ".join(cells) + " |"


def _cell(attack: Attack, level: str, notes: list[Passes]) -> str:
    if level == "worker" and attack.alone and attack.alone not in OF_A_WORKER:
        return "–"
    passes = EXPECTED[level].get(attack.name)
    if passes is None:
        return STOPPED
    if passes not in notes:
        notes.append(passes)
    number = notes.index(passes) + 1
    return f"{STOPPED}, but ({number})" if passes.only else f"**{passes.outcome}** ({number})"


def _sentence(note: Passes) -> str:
    only = f" ({note.outcome} only {note.only})" if note.only else ""
    return f"{note.why[0].upper()}{note.why[1:]}{only}."


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
