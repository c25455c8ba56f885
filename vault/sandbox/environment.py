"""Which variables of the environment go into a cage: a list of those that may, as what leads out has many names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_KEPT = frozenset(
    """PATH HOME SHELL USER LOGNAME PWD TZ LANG LANGUAGE TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE
    EDITOR VISUAL PAGER LESS MANPAGER COLUMNS LINES BROWSER HOSTNAME
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NIX_SSL_CERT_FILE
    XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS XDG_CACHE_HOME XDG_STATE_HOME
    NVM_DIR NVM_BIN PNPM_HOME BUN_INSTALL VOLTA_HOME CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME""".split()
)
# Locale, terminal, and the agents' own settings with the keys of the services they speak to.
_FAMILIES = re.compile(r"(?:LC|TERM|NODE|ANTHROPIC|OPENAI|CLAUDE|CODEX)_[A-Z0-9_]+")
# What makes programs load code, or names a door: passed on only when it is asked for by name.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def scrubbed(environment: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """What of `environment` a caged command gets, and those of the names `passed` that are set.

    Left behind are, among others, the addresses of agents for keys, desktops and terminals (SSH_AUTH_SOCK,
    DBUS_SESSION_BUS_ADDRESS, DISPLAY, TMUX), and what makes loaders and interpreters run code (LD_*, PYTHON*, GIT_*).
    """
    asked = set(passed)
    return {name: value for name, value in environment.items() if name in asked or _goes_in(name)}


def is_name(text: str) -> bool:
    """Whether this can be the name of a variable, without its value."""
    return _NAME.fullmatch(text) is not None


def _goes_in(name: str) -> bool:
    return name in _KEPT or _FAMILIES.fullmatch(name) is not None


def marked(environment: Mapping[str, str], *, vault: str, temporary: str, runtime: str) -> dict[str, str]:
    """The environment in the cage: its own temporary folders, the vault, and a mark that tells where one is."""
    return {
        **environment,
        "RETAIN_CAGED": "1",
        "RETAIN_VAULT": vault,
        "TMPDIR": temporary,
        "XDG_RUNTIME_DIR": runtime,
    }
