"""What on this machine can compile: keys in the environment, programs on the PATH, servers on loopback."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass

from vault.config.engine import KEY_ENV, EngineSettings

# Programs that take a prompt on standard input; agents without tools, as documents are untrusted.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "claude": ("claude", "-p", "--tools", "", "--strict-mcp-config"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "-"),
    "gemini": ("gemini",),
    "llm": ("llm",),
    "ollama": ("ollama", "run", "MODEL"),
}
SERVERS = {
    "Ollama": "http://127.0.0.1:11434",
    "LM Studio": "http://127.0.0.1:1234",
    "llama.cpp": "http://127.0.0.1:8080",
    "vLLM": "http://127.0.0.1:8000",
}
_MOST_MODELS = 100


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found, and the command that would compile with it."""

    name: str
    path: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers, and the models that it names."""

    name: str
    url: str
    models: tuple[str, ...]


def keys(settings: EngineSettings) -> list[str]:
    """Return the names of the variables with a key that are set; never what they hold."""
    return [name for name in dict.fromkeys((settings.key_env, KEY_ENV)) if os.environ.get(name, "").strip()]


def programs() -> list[Program]:
    """Return the known programs that are on the PATH."""
    found = {name: shutil.which(name) for name in PROGRAMS}
    return [Program(name, path, PROGRAMS[name]) for name, path in found.items() if path]


def is_model_here(settings: EngineSettings) -> bool:
    """Return whether there is a key or a program."""
    return bool(keys(settings) or programs())


def servers(urls: Iterable[tuple[str, str]] = tuple(SERVERS.items())) -> list[Server]:
    """Return the servers of models that answer on this machine, each asked for its models once."""
    from cli.web.connection import local_answer  # httpcore2, for this alone

    found = [(name, url, local_answer(f"{url}/v1/models")) for name, url in urls]
    return [Server(name, url, models) for name, url, data in found if (models := _models(data)) is not None]


def _models(data: bytes | None) -> tuple[str, ...] | None:
    """Return the ids in a list of models; None for anything else."""
    try:
        listed = json.loads(data or b"null")["data"]
        return tuple(str(model["id"]) for model in listed[:_MOST_MODELS])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
