"""The bars themselves: what decides, later or elsewhere, what an agent may do or which programs run."""

from __future__ import annotations

import os
from pathlib import Path

from tests.sandbox.attacks.registry import FORGED, Place, attack


def _write(*parts: str) -> None:
    path = Path(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(FORGED)


@attack()
def claude_settings(place: Place) -> None:
    """Edit the vault's .claude/settings.json"""
    _write(place.vault, ".claude/settings.json")


@attack()
def claude_local_settings(place: Place) -> None:
    """Add .claude/settings.local.json, which overrides it"""
    _write(place.vault, ".claude/settings.local.json")


@attack()
def claude_hooks_by_swap(place: Place) -> None:
    """Move .claude/ away and put another there"""
    os.rename(f"{place.vault}/.claude", f"{place.vault}/.claude-old")
    _write(place.vault, ".claude/settings.json")


@attack()
def codex_config(place: Place) -> None:
    """Add .codex/config.toml"""
    _write(place.vault, ".codex/config.toml")


@attack()
def mcp_servers(place: Place) -> None:
    """Add .mcp.json, whose programs a host starts"""
    _write(place.vault, ".mcp.json")


@attack()
def schema(place: Place) -> None:
    """Rewrite AGENTS.md, the contract of every later agent"""
    _write(place.vault, "AGENTS.md")


@attack()
def other_schema(place: Place) -> None:
    """Add CLAUDE.md, which hosts read before AGENTS.md"""
    _write(place.vault, "CLAUDE.md")


@attack()
def settings(place: Place) -> None:
    """Rewrite retain.toml"""
    _write(place.vault, "retain.toml")


@attack()
def obsidian_plugin(place: Place) -> None:
    """Add an Obsidian plugin"""
    _write(place.vault, ".obsidian/plugins/forged/main.js")


@attack()
def own_locks(place: Place) -> None:
    """Write into .retain beside the work folder: locks and caches"""
    _write(place.vault, ".retain/forged.lock")


@attack()
def shell_start_up(place: Place) -> None:
    """Append to ~/.bashrc"""
    _write(place.home, ".bashrc")


@attack()
def user_settings(place: Place) -> None:
    """Rewrite retain's settings of the user"""
    _write(place.config, "config.toml")


@attack()
def user_state(place: Place) -> None:
    """Rewrite what retain keeps of the human's files outside the vault"""
    _write(place.state, "copies.sqlite3")


@attack()
def forged_run(place: Place) -> None:
    """Forge the note of a run, so that later clean-up takes the agent's files for vetted"""
    _write(place.state, "runs/01J0000000000000000000FORG.json")


@attack()
def user_service(place: Place) -> None:
    """Leave a service of the user's systemd"""
    _write(place.home, ".config/systemd/user/forged.service")


@attack()
def autostart(place: Place) -> None:
    """Leave a program that starts with the desktop"""
    _write(place.home, ".config/autostart/forged.desktop")


@attack()
def preload(place: Place) -> None:
    """Leave LD_PRELOAD for every later program of the user"""
    _write(place.home, ".config/environment.d/forged.conf")


@attack()
def ssh_keys(place: Place) -> None:
    """Append to ~/.ssh/authorized_keys"""
    _write(place.home, ".ssh/authorized_keys")


@attack()
def git_user_config(place: Place) -> None:
    """Append to ~/.gitconfig"""
    _write(place.home, ".gitconfig")


@attack()
def host_settings(place: Place) -> None:
    """Edit the user's own ~/.claude/settings.json"""
    _write(place.home, ".claude/settings.json")


@attack()
def retain_copy(place: Place) -> None:
    """Rewrite retain's guard where packages lie"""
    _write(place.site, "vault/files/guard.py")


@attack()
def bytecode(place: Place) -> None:
    """Leave compiled code that Python prefers to retain's guard"""
    _write(place.site, "vault/__pycache__/guard.cpython-311.pyc")


@attack()
def start_file(place: Place) -> None:
    """Leave a .pth file that every later Python runs"""
    _write(place.site, "forged.pth")


@attack(held="through")
def retain_itself(place: Place) -> object:
    """Open the very code of retain that is running for writing (and leave it as it is)"""
    os.close(os.open(place.retain, os.O_WRONLY | os.O_APPEND))
    return "opened for writing"
