"""Which git commands an agent must not run in a vault: what goes round the hooks, or puts other bytes in its files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cli.agent_file_names import git_runs

_READS = frozenset(
    "status log diff show blame annotate grep ls-files ls-tree cat-file rev-parse rev-list shortlog describe "
    "for-each-ref name-rev merge-base help version var check-ignore check-attr count-objects whatchanged "
    "range-diff cherry show-ref diff-tree diff-index diff-files verify-commit ls-remote".split()
)
_KEEPS = frozenset("add commit fetch push branch tag remote notes".split())  # change no file of the vault
_WITH_PATHS = frozenset("checkout restore reset rm mv clean stash apply checkout-index".split())
_VALUED = frozenset("-C --git-dir --work-tree --namespace --exec-path --config-env --super-prefix".split())

Judge = Callable[[str], str | None]


def git_fault(arguments: Sequence[str], written: Judge) -> str | None:
    """Why an agent must not run git with these arguments; `written` says why a path must not be written."""
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-c", "--config-env") or option.startswith(("--config-env=", "-c")):
            setting = rest.pop(0) if option in ("-c", "--config-env") and rest else option[2:]
            if runs(setting):
                return f"git -c {setting.partition('=')[0]} would start a program or leave the hooks out"
        elif option in _VALUED and rest:
            rest.pop(0)
    if not rest:
        return None
    verb, given = rest[0], rest[1:]
    if verb in _READS:
        return _output(verb, given, written)
    if verb in ("commit", "push") and _leaves_hooks_out(verb, given):
        return f"git {verb} without its hooks is the human's to run"
    if verb in _KEEPS:
        return None
    if verb == "config":
        return _config(given)
    if verb == "stash" and given[:1] in (["list"], ["show"]):
        return None
    paths = list(given[given.index("--") + 1 :]) if "--" in given else [g for g in given if g[:1] != "-"]
    if verb in _WITH_PATHS and paths:
        return next((fault for path in paths if (fault := _path_fault(path, written)) is not None), None)
    return f"`git {verb}` may change files of the human's; ask the human to run it"


def runs(setting: str) -> bool:
    """Whether `NAME=VALUE`, as `git -c` takes it, would make git start a program or pass over the hooks."""
    name, _, value = setting.partition("=")
    section, _, key = name.rpartition(".")
    top, _, sub = section.partition(".")
    return bool(git_runs(f'[{top} "{sub}"]\n{key} = {value}' if sub else f"[{top}]\n{key} = {value}"))


def _path_fault(path: str, written: Judge) -> str | None:
    if path in (".", "./", ":/", "*", ":(top)"):
        return "it may change files of the human's; name the files of wiki/ or output/ that you mean"
    return written(path)


def _leaves_hooks_out(verb: str, given: Sequence[str]) -> bool:
    """`--no-verify`, also shortened, and for a commit `-n`, also among other letters as in `-anm`."""
    for word in given:
        if word == "--":
            return False
        if word.startswith("--no-v") and "--no-verify".startswith(word.partition("=")[0]):
            return True
        if verb == "commit" and word.startswith("-") and not word.startswith("--"):
            letters = word[1:]
            cut = min((letters.index(c) for c in "mFCcSut" if c in letters), default=len(letters))
            if "n" in letters[:cut]:
                return True
    return False


def _output(verb: str, given: Sequence[str], written: Judge) -> str | None:
    """`git diff --output=FILE` writes."""
    for index, word in enumerate(given):
        name, equals, value = word.partition("=")
        if name == "--output":
            return written(value if equals else "".join(given[index + 1 : index + 2]))
        if name in ("--open-files-in-pager", "-O") and verb == "grep":
            return "git grep would start a program"
    return None


def _config(given: Sequence[str]) -> str | None:
    asks = {"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get", "--show-origin", "--get-urlmatch"}
    words = [word for word in given if not word.startswith("-")]
    if set(given) & asks or (len(words) <= 1 and not any(w.startswith(("--unset", "--edit", "-e")) for w in given)):
        return None
    return "the settings of git are the human's"
