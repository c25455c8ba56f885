"""Which files in a folder tell a coding agent, an editor or git what to do, and why each matters; pure rules on names.

All of them act on whoever opens the folder: they are how a vault from a stranger speaks to one's own agents.
"""

from __future__ import annotations

import re

_TOLD = "an agent takes it for instructions"
_RUNS = "can start programs"
_AGENT_SETTINGS = "settings of an agent: permissions, hooks, programs to start"

# By name, in any folder; compared without case, as agents on a case-folding disk find them so.
_FILES = {
    **dict.fromkeys(("agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md"), _TOLD),
    **dict.fromkeys(("gemini.md", "qwen.md", "warp.md", "crush.md", ".goosehints"), _TOLD),
    **dict.fromkeys((".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".rules"), _TOLD),
    **dict.fromkeys((".mcp.json", "opencode.json", "opencode.jsonc", "crush.json"), "starts tool servers for an agent"),
    **dict.fromkeys((".aider.conf.yml", ".aider.conf.yaml"), _AGENT_SETTINGS),
    ".envrc": "direnv runs it in every shell that enters the folder",
}
# Folders of which every file counts, at any depth below.
_FOLDERS = {
    **dict.fromkeys((".claude", ".codex", ".agents", ".cursor", ".gemini", ".windsurf", ".qwen"), _AGENT_SETTINGS),
    **dict.fromkeys((".opencode", ".crush", ".roo", ".clinerules", ".continue", ".kiro", ".amazonq"), _AGENT_SETTINGS),
    ".devcontainer": "an editor builds and starts a container from it",
    ".husky": "git hooks: git runs them",
}
# By the path from the folder that matters on.
_PATHS = (
    (re.compile(r"\.github/(copilot-instructions\.md|(instructions|prompts|agents|chatmodes)/.+)"), _TOLD),
    (re.compile(r"\.vscode/(tasks|launch|settings|mcp)\.json"), f"settings of an editor: {_RUNS}"),
    (re.compile(r"\.obsidian/community-plugins\.json"), "names the plugins that Obsidian loads"),
    (re.compile(r"\.obsidian/plugins/[^/]+/main\.js"), "a plugin: Obsidian runs it with your rights"),
    (re.compile(r"\.obsidian/plugins/[^/]+/data\.json"), "settings of a plugin, some of which run commands"),
    (re.compile(r"\.git/hooks/(?!.*\.sample$)[^/]+"), "a git hook: git runs it"),
)
_LED_INTO = frozenset({".github", ".vscode", ".obsidian", ".git"})  # where those paths begin
# The names, without case, of what could matter outside a folder of settings: most names of most vaults could not.
TELLING = frozenset(_FILES) | frozenset(_FOLDERS) | _LED_INTO
GIT_CONFIG = "its settings make git run a program"
# Below .git only these hold what could be found; its objects are many.
_IN_GIT = frozenset({"hooks"})


def why(path: str) -> str | None:
    """Why the file at that path (relative, POSIX) matters to whoever runs an agent, editor or git there; else None."""
    parts = path.casefold().split("/")
    for index, name in enumerate(parts[:-1]):
        if name in _FOLDERS:
            return _FOLDERS[name]
        if name in _LED_INTO:
            below = "/".join(parts[index:])
            return next((words for pattern, words in _PATHS if pattern.fullmatch(below)), None)
    return _FILES.get(parts[-1])


def could_hold(path: str) -> bool:
    """Whether the folder at that path could hold such a file at all; what could not need not be walked."""
    parts = path.casefold().split("/")
    if ".git" not in parts:
        return True
    below = parts[parts.index(".git") + 1 :]
    return not below or (below[0] in _IN_GIT and len(below) == 1)


def in_settings(folder: str) -> bool:
    """Whether the folder at that path is, or lies in, one of settings."""
    return any(part in _FOLDERS or part in _LED_INTO for part in folder.casefold().split("/"))


def is_settings_folder(name: str) -> bool:
    """Whether a folder of that name counts as a whole: also as a link to one elsewhere."""
    return name.casefold() in _FOLDERS or name.casefold() in _LED_INTO - {".git"}


# Settings of a repository that make git run what they name; ext:: and ! begin a command.
_COMMANDS = re.compile(
    r"core\.(hookspath|fsmonitor|sshcommand|pager|editor|gitproxy|askpass|worktree|alternaterefscommand)"
    r"|(sequence\.editor|interactive\.difffilter|diff\.external|gpg\.program|include\.path|includeif\..*\.path)"
    r"|(pager\..+|credential(\..*)?\.helper|gpg\..*\.program|filter\..*\.(clean|smudge|process))"
    r"|(diff\..*\.(command|textconv)|merge\..*\.driver|remote\..*\.(uploadpack|receivepack|vcs)|browser\..*\.cmd)"
    r"|((diff|merge|man)tool\..*\.cmd|uploadpack\.packobjectshook|protocol\.ext\.allow|submodule\..*\.update)"
)
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_HARMLESS = frozenset({"true", "false", "yes", "no", "on", "off", "1", "0", ""})


def git_runs(config: str) -> list[str]:
    """The settings in the text of a git `config` that make git run a program, by name; none in an ordinary one."""
    section, found = "", []
    for line in config.splitlines():
        text = line.strip()
        head = _SECTION.match(text)
        if head:
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            text = head[3].strip()
        setting = _SETTING.match(text)
        if setting is None:
            continue
        name, value = f"{section}.{setting[1]}".lower(), (setting[2] or "").strip()
        plain = value.split("#")[0].split(";")[0].strip().strip('"').lower()
        if name == "core.fsmonitor" and plain in _HARMLESS:
            continue
        starts = value.lstrip('"').startswith(("!", "ext::")) and section.startswith(("alias", "remote", "url"))
        if _COMMANDS.fullmatch(name) or starts:
            found.append(name)
    return found
