"""What the git hooks of a vault refuse: a commit that an agent makes, if it touches what is the human's.

Who commits is told by what agents set in the environment, by author and committer, and by the trailers that agents
leave. None of it is proof: an agent can take all of it off. Humans' commits pass without a look.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from vault.errors import GitFailed
from vault.git import git
from vault.safe_path import HUMAN_FOLDERS, skeleton

# Set by hosts in the shells of their agents; `retain guard run` sets the last.
MARKS = (
    *("CLAUDECODE", "CLAUDE_CODE", "CODEX_SANDBOX", "CODEX_CI", "CODEX_THREAD_ID", "CODEX_SHELL", "GEMINI_CLI"),
    *("CURSOR_AGENT", "AUGMENT_AGENT", "ANTIGRAVITY_AGENT", "CLINE_ACTIVE", "OPENCODE", "GOOSE_TERMINAL", "AI_AGENT"),
    "RETAIN_CAGED",
)
_MAILS = (
    r"(noreply|claude)@anthropic\.com|codex@openai\.com|noreply@openai\.com|cursoragent@cursor\.com"
    r"|(noreply|aider)@aider\.chat|openhands@all-hands\.dev|amp@ampcode\.com|noreply@opencode\.ai"
    r"|([0-9]+\+)?(copilot|claude|codex|gemini-code-assist|devin-ai-integration|cursor|jules|sweep-ai|google-labs-jules)"
    r"(-swe-agent)?(\[bot\])?@users\.noreply\.github\.com"
)
_NAMES = (
    r"claude code|claude (opus|sonnet|haiku|fable)( [\d.]+)?|(openai )?codex( cli)?|(github )?copilot|gemini( cli)?"
    r"|cursor( agent)?|aider( \(.*\))?|devin( ai)?|openhands|opencode|.*\[bot\]"
)
_AGENT = re.compile(rf"\s*(({_NAMES})\s*<.*>|.*<\s*({_MAILS})\s*>).*", re.IGNORECASE)
_TRAILER = re.compile(r"^(co-authored-by|assisted-by|generated-by|signed-off-by):(.*)$", re.IGNORECASE | re.MULTILINE)
_MADE = re.compile(r"generated with \[?(claude code|codex|copilot|cursor|gemini|aider|opencode)", re.IGNORECASE)
_LOGS = re.compile(r"reviews.*\.jsonl")
_THEIRS = frozenset(skeleton(name) for name in (*HUMAN_FOLDERS, "ledger"))


def agent_named(identity: str) -> bool:
    """Whether `Name <mail>` is one that a coding agent signs with."""
    return _AGENT.fullmatch(identity) is not None


def agent_in_message(message: str) -> str | None:
    """The line of a commit message by which an agent says that it wrote it; None if there is none."""
    for trailer in _TRAILER.finditer(message):
        if agent_named(trailer[2]):
            return trailer[0].strip()
    made = _MADE.search(message)
    return made[0] if made else None


def is_humans(path: str) -> bool:
    """Whether the path, from the vault's root, is in a folder of the human's, a ledger or the review log."""
    parts = path.split("/")
    if skeleton(parts[0]) in _THEIRS:
        return True
    folder, name = parts[0].casefold(), parts[-1].casefold()
    return folder == "learning" and len(parts) == 2 and _LOGS.fullmatch(name) is not None


def commit_fault(root: Path, here: Path, by: str) -> str | None:
    """Why the commit that the agent `by` makes in the folder `here` must not be made in the vault at `root`.

    None for one that touches nothing of the human's.
    """
    theirs = [path for path in _staged(root, here) if is_humans(path)]
    if not theirs:
        return None
    shown = "".join(f"\n  {path}" for path in theirs[:10]) + (f"\n  and {len(theirs) - 10} more" * (len(theirs) > 10))
    return (
        f"this commit is an agent's ({by}), and it touches what is the human's:{shown}\n"
        "  take these files out of it (`git restore --staged FILE`), or let the human commit"
    )


def agent_of(here: Path, environment: Mapping[str, str], message: str | None) -> str | None:
    """By what the commit that is being made in the folder `here` is known as an agent's; None if it is not."""
    for mark in MARKS:
        if environment.get(mark):
            return f"{mark} is set"
    for who in ("AUTHOR", "COMMITTER"):
        said = _identity(here, who)
        identity = re.sub(r"\s+\d+ [+-]\d{4}\s*$", "", said)
        if agent_named(identity):
            return f"{who.lower()}: {identity}"
    return agent_in_message(message) if message else None


def _staged(root: Path, here: Path) -> list[str]:
    """What the commit changes below the vault's root, from there; old names of moved files too.

    Asked in the folder that git itself chose, as what it has put in the environment counts from there.
    """
    top = Path(git(here, "rev-parse", "--show-toplevel", in_hook=True))
    prefix = root.resolve().relative_to(top.resolve()).as_posix()
    listed = git(here, "diff --cached", "--name-only", "--no-renames", "--no-relative", "-z", in_hook=True)
    below = "" if prefix == "." else f"{prefix}/"
    return [path.removeprefix(below) for path in listed.split("\0") if path and path.startswith(below)]


def _identity(here: Path, who: str) -> str:
    try:
        return git(here, "var", f"GIT_{who}_IDENT", in_hook=True)
    except GitFailed:
        return ""  # nobody is configured: git itself refuses the commit
