"""The environment variables that a command in a sandbox gets: an allow-list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_ALLOWED = frozenset(
    """PATH HOME SHELL USER LOGNAME PWD TZ LANG LANGUAGE TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE
    EDITOR VISUAL PAGER LESS MANPAGER COLUMNS LINES BROWSER HOSTNAME
    HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NIX_SSL_CERT_FILE
    XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS XDG_CACHE_HOME XDG_STATE_HOME
    NVM_DIR NVM_BIN PNPM_HOME BUN_INSTALL VOLTA_HOME CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME""".split()
)
# Locale, terminal, and the agents' own settings with the keys of the services they speak to.
_FAMILIES = re.compile(r"(?:LC|TERM|NODE|ANTHROPIC|OPENAI|CLAUDE|CODEX)_[A-Z0-9_]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def filtered_environment(environment: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables of `environment` that a command in the sandbox gets, and those named in `passed`.

    Others are left out, such as the addresses of key agents, desktops and terminals (SSH_AUTH_SOCK,
    DBUS_SESSION_BUS_ADDRESS, DISPLAY, TMUX), and what makes loaders and interpreters run code (LD_*, PYTHON*, GIT_*).
    """
    names = set(passed)
    return {name: value for name, value in environment.items() if name in names or _is_allowed(name)}


def is_name(text: str) -> bool:
    """Return whether `text` is a valid name of a variable."""
    return _NAME.fullmatch(text) is not None


def _is_allowed(name: str) -> bool:
    return name in _ALLOWED or _FAMILIES.fullmatch(name) is not None


def sandbox_environment(environment: Mapping[str, str], *, vault: str, temporary: str, runtime: str) -> dict[str, str]:
    """Return `environment` with the sandbox's temporary folders, the vault, and RETAIN_CAGED."""
    return {
        **environment,
        "RETAIN_CAGED": "1",
        "RETAIN_VAULT": vault,
        "TMPDIR": temporary,
        "XDG_RUNTIME_DIR": runtime,
    }
