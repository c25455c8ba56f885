"""The commands of retain that an agent may run in a sandbox or under the hooks of its host: those that only read.

The sandbox (`cli.options.check_sandboxed`), the hook (`cli.hosts.hook`) and AGENTS.md, section 2, go by this one list.
"""

from __future__ import annotations

from collections.abc import Sequence

AGENT_COMMANDS = (
    "verify",
    "lint",
    "search",
    "trace",
    "status",
    "log",  # without `restore` and `accept`
    "due",
    "card show",
    "gaps list",
    "gaps plan",  # without a gap: with one it records the human's decision
    "inbox list",
    "inbox show",
    "guard status",
    "doctor",
    "agent next",
    "agent show",
    "agent submit",  # in a sandbox the reply goes to the work folder, and is taken over after the run
    "agent ask",
    "agent status",
    "agent release",
    "agent help",
    "mcp",
)
# The tools of `retain mcp` where a host calls the server retain: they write what `agent submit` writes.
MCP_TOOLS = frozenset(
    f"mcp__retain__{name}" for name in ("next_order", "submit", "status", "release", "search", "ask", "lint")
)
# What they may be given. An option that isn't here could be the one that decides something in the human's name.
OPTIONS = ("--json", "--all", "--rejected", "--coverage")
# Each of these takes the word that follows.
VALUED = ("--vault", "--tag", "--kind", "--limit", "--rule", "--since", "--progress")
_VALUED_OF_ORDERS = ("--count", "--type", "--order", "--as", "--minutes", "--wait")
_HELP = ("-h", "--help")
_BY_HOSTS = ("guard", "hook")  # what hosts and git call, also inside a sandbox; it writes nothing
_ALLOWED = tuple(tuple(command.split()) for command in AGENT_COMMANDS)


def may_run(arguments: Sequence[str]) -> bool:
    """Whether an agent may run `retain` with these arguments. What cannot be read for sure it may not."""
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            words.extend(rest)
        elif word in _HELP or (word == "--version" and not words):
            return True
        elif word in (valued := VALUED + _VALUED_OF_ORDERS if words[:1] == ["agent"] else VALUED):
            next(rest, None)
        elif word.partition("=")[0] in valued or word in OPTIONS:
            continue
        elif word.startswith("-") and not (word == "-" and words[:2] == ["agent", "submit"]):
            return False
        else:
            words.append(word)
    if words == ["gaps"]:
        return True  # the list
    if words[:1] == ["log"]:
        return len(words) == 1
    if words[:2] == ["gaps", "plan"]:
        return len(words) == 2
    if words[:1] == ["inbox"]:  # the human's, but to look at: what waits is no secret
        return words[1:2] in ([], ["list"], ["show"])
    return tuple(words[:2]) == _BY_HOSTS or any(tuple(words[: len(each)]) == each for each in _ALLOWED)
