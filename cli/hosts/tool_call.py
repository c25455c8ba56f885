"""The check of a coding agent's tool call, as its host describes it to a hook."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from shlex import join
from typing import Any

from cli.agent_commands import AGENT_COMMANDS, MCP_TOOLS, may_run
from cli.command_list import COMMANDS
from cli.guard.ownership import Territory, is_closed

_WRITING = frozenset({"write", "edit", "multiedit", "notebookedit", "update", "create", "str_replace_based_edit_tool"})
_READING = frozenset({"read", "notebookread", "view", "viewimage", "view_image", "lsp"})
_SEARCHING = frozenset({"glob", "grep", "ls", "list", "search"})
_SHELLS = frozenset({"bash", "powershell", "monitor", "shell", "exec", "exec_command", "local_shell", "killshell"})
# They touch no file by a path of the agent's choosing; the agents that they start come by here themselves.
_HARMLESS = frozenset(
    {"task", "agent", "todowrite", "todoread", "webfetch", "websearch", "skill", "askuserquestion", "exitplanmode"}
    | {"enterplanmode", "bashoutput", "taskcreate", "taskupdate", "tasklist", "taskget", "taskoutput", "taskstop"}
    | {"toolsearch", "slashcommand", "update_plan", "sendmessage", "sleep", "killbash"}
)
_TEXT = re.compile(r"content|contents|text|body|data|old_?str.*|new_?str.*|query|prompt|message|description|value|code")
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)
_READS = re.compile(r"(^|[_-])(read|get|list|search|find|view|stat|info|tree|open|fetch|show|query|grep|glob)")
_LONGEST = 4_096
_LONGEST_LINE = 1 << 20
_WORD = re.compile(r"[^\s(),;=<>|&\[\]{}`]+")
WORK = ".retain/work"
_RETAIN = re.compile(r"(?:(?<![\w.-])retain|cli\.main)[ \t]([^;&|<>()`\n]*)")  # the arguments of each call


class Malformed(ValueError):
    """The description of a tool call is invalid."""


def call_fault(call: Any, territory: Territory) -> str | None:
    """Return why an agent must not make this call (the JSON of a PreToolUse hook), or None. Raises: Malformed."""
    if not isinstance(call, Mapping):
        raise Malformed("not an object")
    name, given, cwd = call.get("tool_name"), call.get("tool_input"), call.get("cwd")
    if not isinstance(name, str) or not isinstance(given, Mapping):
        raise Malformed("no tool_name, or no tool_input")
    if not isinstance(cwd, str) or not os.path.isabs(cwd):  # noqa: PTH117 (a text of the host's)
        raise Malformed("no absolute cwd")
    plain = name.lower()
    if plain in _SHELLS:
        return _shell(given, cwd, territory, powershell=plain == "powershell")
    if plain == "apply_patch":
        return _patch(given, cwd, territory)
    if plain in _HARMLESS or plain in MCP_TOOLS:
        return None
    if plain in _WRITING:
        return _first(territory.write_fault(path) for path in _own_paths(given, cwd))
    if plain in _READING:
        return _first(territory.read_fault(path) for path in _own_paths(given, cwd))
    if plain in _SEARCHING:
        return _first(territory.read_fault(path, below=True) for path in [*_own_paths(given, cwd), cwd])
    return _foreign(plain, given, cwd, territory)


def _shell(given: Mapping[str, Any], cwd: str, territory: Territory, *, powershell: bool) -> str | None:
    line = given.get("command", given.get("cmd"))
    if line is None:
        return None  # another question to a shell that already runs
    if isinstance(line, list) and all(isinstance(word, str) for word in line):
        line = join(line)
    if not isinstance(line, str):
        raise Malformed("the command is not text")
    if given.get("dangerouslyDisableSandbox"):
        return "only the user may run a command outside the sandbox"
    own = given.get("workdir", cwd)
    here = os.path.join(cwd, own) if isinstance(own, str) else cwd  # noqa: PTH118
    return shell_fault(line.replace("\\", "/") if powershell else line, here, territory)


def shell_fault(line: str, cwd: str, territory: Territory) -> str | None:
    """Return why an agent must not run this shell line in `cwd`, or None.

    The line is not parsed. It is refused when one of its words names a closed place or the personal vault, whether to
    read or to write, or when it runs a command of retain that is for the user. The work folder is open.
    """
    if len(line) > _LONGEST_LINE:
        return "the command is too long to check"
    text = re.sub(r"\$\{(\w+)\}", r"$\1", re.sub(r"['\"\\]", "", line))
    for arguments in _RETAIN.findall(text):
        words = arguments.split()
        if not COMMANDS.keys().isdisjoint(words) and not may_run(words):
            return f"`retain {arguments.strip()[:60]}` is for the user; an agent may run {', '.join(AGENT_COMMANDS)}"
    for word in dict.fromkeys([cwd, *_WORD.findall(text)]):
        path = _absolute(word, cwd)
        if (fault := territory.read_fault(path)) is not None:
            return fault
        if os.path.realpath(path).startswith(f"{os.path.realpath(territory.root)}/{WORK}/"):
            continue  # where orders are, and the answers to them
        parts = [] if "://" in word or path == word else word.split("/")
        closed = territory.closed_place(path) or next(filter(is_closed, parts), None)
        if closed is not None:
            return f"a shell command must not mention {closed}; to read a file there, use the tool that reads files"
    return None


def _patch(given: Mapping[str, Any], cwd: str, territory: Territory) -> str | None:
    """Return why an agent must not apply this patch of Codex, whose lines name the files, or None."""
    text = given.get("command", given.get("input", given.get("patch")))
    if not isinstance(text, str):
        raise Malformed("the patch is not text")
    return _first(territory.write_fault(_absolute(path.strip(), cwd)) for path in _PATCHED.findall(text))


def _own_paths(given: Mapping[str, Any], cwd: str) -> Iterator[str]:
    """Yield the paths that a tool of the host itself gets. Raises: Malformed for a path that is no text."""
    for key in ("file_path", "notebook_path", "path", "filePath", "directory"):
        value = given.get(key)
        if value is None:
            continue
        if not isinstance(value, str) or "\0" in value:
            raise Malformed(f"{key} is not a path")
        yield _absolute(value, cwd)
    pattern = given.get("glob", given.get("pattern"))
    if isinstance(pattern, str) and pattern.startswith(("/", "~", "..")) and "\0" not in pattern:
        yield _absolute(re.split(r"[*?\[{]", pattern)[0], cwd)


def _foreign(name: str, given: Mapping[str, Any], cwd: str, territory: Territory) -> str | None:
    """Return why an agent must not call this tool of an MCP server, or None. What looks like a path counts as one."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    reads = _READS.search(tool or server) is not None
    for key, value in _texts(given):
        for base in (cwd, territory.root):
            path = _absolute(value, base)
            fault = territory.read_fault(path, below=reads and "/" in value)
            if fault is None and not reads and (territory.names(path) or _says_path(key)):
                fault = territory.write_fault(path)
            if fault is not None:
                return fault
    return None


def _texts(given: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every text in the arguments that could be a path, with its argument's name."""
    if isinstance(given, str):
        short = 0 < len(given) <= _LONGEST and "\n" not in given and "\0" not in given
        if short and not _TEXT.fullmatch(key.lower()) and not re.match(r"https?:", given):
            yield key, given
    elif depth < 6 and isinstance(given, Mapping):
        for name, value in given.items():
            yield from _texts(value, str(name), depth + 1)
    elif depth < 6 and isinstance(given, list):
        for value in given:
            yield from _texts(value, key, depth + 1)


def _says_path(key: str) -> bool:
    return re.search(r"path|file|folder|dir|uri|destination", key.lower()) is not None


def _absolute(path: str, cwd: str) -> str:
    """Return the path as the tool will interpret it, with `~`, `$HOME` and file: addresses resolved."""
    plain = re.sub(r"^file:(//(localhost)?)?(?=/)", "", path)
    plain = re.sub(r"^\$(\{HOME\}|HOME\b)", "~", plain)
    return os.path.join(cwd, os.path.expanduser(plain))  # noqa: PTH111, PTH118 (a text, not yet a path)


def _first(faults: Iterator[str | None]) -> str | None:
    return next((fault for fault in faults if fault is not None), None)
