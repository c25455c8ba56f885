"""What a cage is made of, as texts: the environment, the words for bubblewrap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.sandbox.bubblewrap import RUNTIME, Plan, arguments
from vault.sandbox.environment import filtered_environment, is_name, sandbox_environment

# --- the environment ------------------------------------------------------------------------------------------------

LEFT_BEHIND = """SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY
TMUX TMUX_PANE STY XDG_RUNTIME_DIR XDG_SESSION_ID LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES PYTHONPATH
PYTHONSTARTUP PYTHONHOME GIT_DIR GIT_WORK_TREE GIT_SSH_COMMAND GIT_EXEC_PATH BASH_ENV ENV IFS PERL5OPT RUBYOPT
BASH_FUNC_ls%% DOCKER_HOST KUBECONFIG AWS_SECRET_ACCESS_KEY GITHUB_TOKEN SUDO_USER OLDPWD RETAIN_VAULT RETAIN_CAGED
NODEX CLAUDE ANTHROPICS_KEY TMPDIR""".split()
KEPT = """PATH HOME LANG LC_ALL LC_CTYPE TERM TERM_PROGRAM COLORTERM EDITOR SHELL USER LOGNAME TZ HTTPS_PROXY no_proxy
ANTHROPIC_API_KEY ANTHROPIC_BASE_URL OPENAI_API_KEY CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_BEDROCK CODEX_HOME NODE_OPTIONS
NODE_EXTRA_CA_CERTS SSL_CERT_FILE XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME NO_COLOR""".split()


def test_only_what_is_on_the_list_goes_in() -> None:
    before = {name: f"value of {name}" for name in (*LEFT_BEHIND, *KEPT)}
    assert filtered_environment(before) == {name: before[name] for name in KEPT}


def test_what_is_asked_for_by_name_goes_in_too_if_it_is_set() -> None:
    before = {"AWS_PROFILE": "work", "AWS_SECRET_ACCESS_KEY": "x", "PATH": "/bin"}
    assert filtered_environment(before, ["AWS_PROFILE", "NOT_SET"]) == {"AWS_PROFILE": "work", "PATH": "/bin"}


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_nothing_is_made_up(environment: dict[str, str]) -> None:
    assert filtered_environment(environment).items() <= environment.items()


def test_the_cages_own_variables_win() -> None:
    before = {"TMPDIR": "/home/me/tmp", "PATH": "/bin"}
    inside = sandbox_environment(before, vault="/v", temporary="/tmp", runtime="/tmp/r")
    assert inside["TMPDIR"] == "/tmp" and inside["RETAIN_CAGED"] == "1" and inside["RETAIN_VAULT"] == "/v"
    assert inside["PATH"] == "/bin" and inside["XDG_RUNTIME_DIR"] == "/tmp/r"


@pytest.mark.parametrize("text", ["", "A=B", "1A", "A B", "A\n", "A-B"])
def test_a_name_is_no_assignment(text: str) -> None:
    assert not is_name(text) and is_name("A_1")


# --- bubblewrap -----------------------------------------------------------------------------------------------------

PLAN = Plan(
    writable=("/home/me/v/wiki", "/home/me/.agent"),
    hidden=("/home/me/notes",),
    needed=(("/tmp/tools/bin", "/tmp/tools/bin"), ("/usr/bin", "/usr/bin"), ("/tmp/tools/bin/x", "/tmp/tools/bin/x")),
    links=(("/run/current-system", "/nix/store/x"),),
)


def places(words: list[str], option: str) -> list[int]:
    return [n for n, word in enumerate(words) if word == option]


def test_everything_is_read_only_before_anything_is_writable_and_hidden_last() -> None:
    words = arguments(PLAN)
    root = words.index("--ro-bind")
    assert words[root : root + 3] == ["--ro-bind", "/", "/"]
    binds, masks = places(words, "--bind"), places(words, "/home/me/notes")
    assert [words[n + 1 : n + 3] for n in binds] == [[path, path] for path in PLAN.writable]
    assert root < places(words, "--tmpfs")[0] < binds[0] < binds[-1] < masks[0]
    mask = words[masks[0] - 3 : masks[0] + 3]
    assert mask == ["--perms", "0555", "--tmpfs", "/home/me/notes", "--remount-ro", "/home/me/notes"]


def test_every_right_and_every_space_is_given_up() -> None:
    words = arguments(PLAN)
    assert {"--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1"} <= set(words)
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert "--unshare-net" not in words and "--unshare-net" in arguments(Plan((), network=False))
    assert words[places(words, "/proc")[-1] - 1] == "--remount-ro"


def test_what_lies_in_a_private_place_and_is_needed_is_shown_there_once() -> None:
    words = arguments(PLAN)
    shown = [words[n + 1 : n + 3] for n in places(words, "--ro-bind")]
    assert shown == [["/", "/"], ["/tmp/tools/bin", "/tmp/tools/bin"]]
    link = words.index("--symlink")
    assert words[link : link + 3] == ["--symlink", "/nix/store/x", "/run/current-system"]
    assert places(words, "--tmpfs")[2] < link < places(words, "--bind")[0]
    assert RUNTIME in words
