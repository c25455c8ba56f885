"""What a line of shell would write, read as far as a line can be read: why an agent must not run it, or nothing.

Best effort, and said so everywhere: a program can be written that this does not see through. The cage of
`retain guard run` is what holds; this tells a polite agent in time, and in words, what it would run into.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

from cli.agent_commands import AGENT_COMMANDS, may_run
from cli.git_words import git_fault
from cli.shell_place import ShellPlace
from cli.shell_words import UNKNOWN, VARIABLE, Simple, Unreadable, simple_commands
from cli.territory import Territory

_DEPTH, _LENGTH, _WORDS = 8, 1 << 20, 20_000

# Each path that these are given, they write; the number of leading words that are no path.
_WRITERS = {
    **dict.fromkeys("rm rmdir unlink shred truncate touch mkdir mv ln link tee mkfifo mknod sponge rename".split(), 0),
    **dict.fromkeys("trash trash-put patch ed ex vi vim nvim nano emacs code dos2unix unix2dos chattr".split(), 0),
    **dict.fromkeys("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd srm wipe rmtree fallocate".split(), 0),
    **dict.fromkeys("chmod chown chgrp setfacl".split(), 1),
    **dict.fromkeys("remove-item set-content add-content out-file new-item move-item copy-item".split(), 0),
    **dict.fromkeys("rename-item clear-content set-item ri del erase rd md ni mi ci".split(), 0),
}
_VALUED = {  # the options of which the next word is the value, and no path that is written
    "touch": ("-d", "-t", "-r", "--date", "--reference"),
    "truncate": ("-s", "-r", "--size", "--reference"),
    "mkdir": ("-m", "--mode"),
    "install": ("-m", "-o", "-g", "--mode", "--owner", "--group"),
    "fallocate": ("-l", "-o"),
}
_TARGET = ("-t", "--target-directory")
_COPIERS = frozenset("cp rsync scp install ditto pax cpio".split())  # the last word is written
_WRAPPERS = frozenset(
    "sudo doas env command exec builtin nohup time nice ionice timeout stdbuf setsid unbuffer then do else if while "
    "until ! { coproc busybox noglob nocorrect chrt taskset caffeinate".split()
)
_SHELLS = frozenset("sh bash zsh dash ash ksh fish mksh pwsh powershell".split())
_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|Rscript|osascript|awk|gawk|mawk)[\d.]*"
)
_IN_PLACE = re.compile(
    r"--?(in-place|inplace|write|fix|overwrite|delete|remove-source-files)(=.*)?|-[a-hj-z]*i[^n]{0,8}"
)
_EDITORS = frozenset("sed perl ruby yq jq gawk awk prettier black ruff sd eslint markdownlint sort".split())
_OUTPUT = re.compile(r"-o|-O|--output|--out|--outfile|--output-file|--output-dir(ectory)?|--out-dir|-of")
# What in a piece of code would write a file, start a program or leave another way to it.
_CODE_WRITES = re.compile(
    r"""open\s*\([^)]{0,300},\s*(mode\s*=\s*)?['"rb]*[wax+]|\.write|writeFile|appendFile|write_(text|bytes)|unlink|remove
    |rename|replace\(|rmtree|rmdir|mkdir|makedirs|touch|symlink|hardlink|\blink\b|truncate|chmod|chown|utime|copy
    |move|shutil|subprocess|system\s*\(|popen|spawn|exec|createWriteStream|file_put_contents|fopen|File\.(open|delete)
    |FileUtils|>{1,2}\s*["'$\w/.]|\bw\+?\b|Set-Content|Out-File""",
    re.VERBOSE | re.IGNORECASE,
)
_CODE_WORD = re.compile(r"""[^\s'"`(),;=<>|&\[\]{}]+""")


def shell_fault(line: str, cwd: str, territory: Territory) -> str | None:
    """Why an agent must not run this line of shell in `cwd`; None where nothing speaks against it."""
    if len(line) > _LENGTH:
        return "the command is too long to be read"
    return _Reading(line, cwd, territory).fault(line)


class _Reading:
    """One tool call: the folder the shell is in and the variables set so far go with it."""

    def __init__(self, whole: str, cwd: str, territory: Territory) -> None:
        self.whole = whole
        self.place = ShellPlace(cwd)
        self.territory = territory
        self._named: bool | None = None

    def fault(self, line: str, depth: int = 0) -> str | None:
        if depth > _DEPTH:
            return "commands within commands, too deep to be read"
        try:
            commands = simple_commands(line)
        except Unreadable as error:
            return f"the command cannot be read: {error}" if self._names_anything(line) else None
        for command in commands:
            found = self._simple(command, depth)
            if found is not None:
                return found
        return None

    def _simple(self, command: Simple, depth: int) -> str | None:
        for inner in command.substituted:
            found = self.fault(inner, depth + 1)
            if found is not None:
                return found
        if command.words[:1] != ["[["]:
            for target in command.writes:
                found = self._written(target)
                if found is not None:
                    return f"> {self._shown(target)}: {found}"
        words = self._assigned(command.words)
        return self._command([w for word in words for w in self.place.expanded(word)], command, depth)

    def _assigned(self, words: Sequence[str]) -> list[str]:
        """The words without what only sets variables, which is remembered: `x=y`, `for x in y z`."""
        rest = list(words)
        while rest and (set_ := re.fullmatch(r"([A-Za-z_]\w*)\+?=(.*)", rest[0], re.DOTALL)):
            self.place.variables[set_[1]] = self.place.expanded(set_[2])
            rest.pop(0)
        while rest[:1] and rest[0] in ("export", "local", "declare", "readonly", "typeset"):
            return self._assigned(rest[1:])
        if rest[:1] in (["for"], ["select"]) and rest[2:3] == ["in"]:
            self.place.variables[rest[1]] = [w for word in rest[3:] for w in self.place.expanded(word)]
            return []
        return rest

    def _command(self, words: list[str], command: Simple, depth: int) -> str | None:
        words = _unwrapped(words)
        if not words:
            return None
        verb = words[0].rsplit("/", 1)[-1]
        arguments = words[1:]
        private = self._reads_secret(words, verb)
        if private is not None:
            return private
        plain = verb.lower().removesuffix(".exe")
        if plain in ("cd", "pushd", "chdir"):
            self.place.go([a for a in arguments if not a.startswith("-")])
            return None
        if plain == "retain" or arguments[:2] == ["-m", "cli.main"]:
            given = arguments if plain == "retain" else arguments[2:]
            return None if may_run(given) else _not_for_agents(given)
        if plain == "git":
            return git_fault(arguments, self._written_or_named)
        if plain in _SHELLS or plain in ("eval", "source", "."):
            return self._shell(plain, arguments, command, depth)
        return self._by_kind(plain, arguments, command, depth)

    def _by_kind(self, verb: str, arguments: list[str], command: Simple, depth: int) -> str | None:
        if verb in ("ln", "link"):
            return self._linked(verb, arguments)
        if verb in _WRITERS:
            return self._each_written(verb, _paths(verb, arguments)[_WRITERS[verb] :])
        if verb in _COPIERS:
            return self._copied(verb, arguments)
        if verb == "dd":
            return self._each_written(verb, [a[3:] for a in arguments if a.startswith("of=")])
        if verb == "find" or verb == "fd":
            return self._find(arguments, command, depth)
        if verb in ("xargs", "parallel"):
            return self._fed(_without_options(arguments))
        if verb in ("tar", "unzip", "bsdtar", "7z"):
            return self._unpacked(verb, arguments)
        if _INTERPRETERS.fullmatch(verb) and (found := self._code(verb, arguments, command)) is not None:
            return found
        return self._in_place_or_output(verb, arguments)

    def _shell(self, verb: str, arguments: list[str], command: Simple, depth: int) -> str | None:
        """`bash -c LINE`, `eval LINE`, a script on standard input."""
        if verb == "eval":
            return self.fault(" ".join(arguments), depth + 1)
        for index, argument in enumerate(arguments):
            if re.fullmatch(r"-[a-zA-Z]*c|-Command", argument) and index + 1 < len(arguments):
                found = self.fault(arguments[index + 1], depth + 1)
                if found is not None:
                    return found
        return self.fault(command.body, depth + 1) if command.body else None

    def _code(self, verb: str, arguments: list[str], command: Simple) -> str | None:
        """Code in a word or a here-document, which both names what is not the agent's and holds what writes."""
        inline = verb.endswith("awk") or any(re.match(r"-[a-zA-Z]*[ecr]", a) for a in arguments) or "eval" in arguments
        code = "\n".join([*(arguments if inline else ()), command.body])
        if _CODE_WRITES.search(code) and self._names_anything(code):
            return f"the code for {verb} names what an agent must not write"
        return None

    def _find(self, arguments: list[str], command: Simple, depth: int) -> str | None:
        roots = []
        for argument in arguments:
            if argument.startswith(("-", "(", "!")):
                break
            roots.append(argument)
        for index, argument in enumerate(arguments):
            if argument == "-delete":
                return self._each_written("find", roots or ["."])
            if argument.startswith("-f") and argument in ("-fprint", "-fprintf", "-fls", "-fprint0"):
                return self._each_written("find", arguments[index + 1 : index + 2])
            if argument in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
                inner = [a for a in arguments[index + 1 :] if a not in (";", "+", "\\;")]
                filled = [f"{root}/*" if "{}" in a else a for a in inner for root in (roots or ["."])]
                return self._command(filled, Simple(), depth + 1)
        return None

    def _fed(self, words: list[str]) -> str | None:
        """A command whose arguments come through a pipe: judged by all that the line names."""
        inner = _unwrapped(words)
        verb = inner[0].rsplit("/", 1)[-1] if inner else ""
        writes = any(verb in kind for kind in (_WRITERS, _COPIERS, _SHELLS, _EDITORS)) or _INTERPRETERS.fullmatch(verb)
        if writes and self._anything_named():
            return f"{verb} would be given what an agent must not write"
        return None

    def _unpacked(self, verb: str, arguments: list[str]) -> str | None:
        """Archives that are unpacked write where they are told to, else here; one that is made is written."""
        text = " ".join(arguments)
        given = [b for a, b in pairwise(arguments) if a in ("-C", "-d", "--directory", "-f")]
        opened = verb in ("unzip", "7z") or re.search(r"(^| )-?[a-zA-Z]*x|--extract|--get", text)
        folders = [b for a, b in pairwise(arguments) if a in ("-C", "-d", "--directory")]
        if opened:
            return self._each_written(verb, folders or ["."], into=True)
        return self._each_written(verb, [g for g in given if g not in folders])

    def _copied(self, verb: str, arguments: list[str]) -> str | None:
        """The last word, or what -t names, is written; with `--delete` and the like, so are the others."""
        if any(re.fullmatch(r"-[a-zA-Z]*[ls][a-zA-Z]*|--link|--symbolic-link", a) for a in arguments) and verb == "cp":
            return self._each_written(verb, _paths(verb, arguments))  # links, not copies
        for index, argument in enumerate(arguments):
            if argument in _TARGET:
                return self._each_written(verb, arguments[index + 1 : index + 2], into=True)
            if argument.startswith("--target-directory="):
                return self._each_written(verb, [argument.partition("=")[2]], into=True)
        paths = _paths(verb, arguments)
        moved = paths[:-1] if "--remove-source-files" in arguments else []
        return self._each_written(verb, moved) or self._each_written(verb, paths[-1:], into=True)

    def _linked(self, verb: str, arguments: list[str]) -> str | None:
        """A link is written, and opens a way to what it leads to: which a symbolic one counts from where it lies."""
        paths = _paths(verb, arguments)
        if not any(re.fullmatch(r"-[a-zA-Z]*s[a-zA-Z]*|--symbolic", a) for a in arguments) or len(paths) < 2:
            return self._each_written(verb, paths)
        beside = os.path.dirname(paths[-1])  # noqa: PTH120 (a text of the shell's)
        targets = [*paths[:-1], *(os.path.join(beside, target) for target in paths[:-1])]  # noqa: PTH118
        return self._each_written(verb, targets, named=True) or self._each_written(verb, paths[-1:])

    def _in_place_or_output(self, verb: str, arguments: list[str]) -> str | None:
        """Options by which programs that mostly read do write: `-i`, `-o FILE`, `--output=FILE`."""
        for index, argument in enumerate(arguments):
            name, equals, value = argument.partition("=")
            if _OUTPUT.fullmatch(name):
                found = self._written_or_named(value if equals else "".join(arguments[index + 1 : index + 2]))
                if found is not None:
                    return f"{verb} {name}: {found}"
        scripts = [a for a in arguments if verb == "sed" and re.search(r"(^|[;/}\d$])\s*w\s+\S", a)]
        if scripts and self._anything_named():
            return "sed would write what an agent must not"
        if verb in _EDITORS and any(_IN_PLACE.fullmatch(a) for a in arguments):
            return self._each_written(verb, _paths(verb, arguments), named=True)
        return None

    # -- what a word means ------------------------------------------------------------------------------------------

    def _each_written(self, verb: str, words: Sequence[str], *, named: bool = False, into: bool = False) -> str | None:
        for word in words:
            found = self._written_or_named(word) if named else self._written(word, into=into)
            if found is not None:
                return f"{verb} {self._shown(word)}: {found}"
        return None

    def _written(self, word: str, *, into: bool = False) -> str | None:
        """Why nothing may be written where the word leads, or with `into` in the folder that it names.

        What only the shell can tell goes by what else the line names.
        """
        for each in self.place.expanded(word):
            if each.startswith(UNKNOWN):
                if self._anything_named():
                    return "it may be what the line names, which an agent must not write"
                continue
            for path in self.place.matching(each):
                inside = into and os.path.isdir(path)  # noqa: PTH112
                fault = self.territory.write_fault(f"{path}/new" if inside else path)
                if fault is not None:
                    return fault
        return None

    def _written_or_named(self, word: str) -> str | None:
        """The same for a word that need not be a path: only where it names something that is there or well known."""
        for each in self.place.expanded(word):
            for path in self.place.matching(each) if each and not each.startswith(UNKNOWN) else ():
                fault = self.territory.write_fault(path)
                if fault is not None and self.territory.names(path) and not self._is_above(path):
                    return fault
        return None

    def _is_above(self, path: str) -> bool:
        """Whether the path is the vault itself or above: named by every `.`, and meant by few."""
        return self.territory.root.startswith(os.path.realpath(path).rstrip("/") + "/") or (
            os.path.realpath(path) == self.territory.root
        )

    def _names_anything(self, text: str) -> bool:
        words = dict.fromkeys(_CODE_WORD.findall(text))  # each once
        return any(self._written_or_named(word) is not None for word in list(words)[:_WORDS])

    def _anything_named(self) -> bool:
        if self._named is None:
            self._named = False  # of itself it needs no answer
            self._named = self._names_anything(self.whole)
        return self._named

    def _reads_secret(self, words: list[str], verb: str) -> str | None:
        """Why no word may be read; programs that look into folders must not start above the personal vault either."""
        deep = verb in ("grep", "rg", "ag", "find", "fd", "tree", "tar", "zip", "cp", "rsync", "du", "ls", "ack")
        deep = deep and (verb in ("rg", "ag", "find", "fd", "tree", "tar", "zip", "rsync", "ack") or _recurses(words))
        for word in dict.fromkeys(words):
            for each in self.place.expanded(word):
                for path in self.place.matching(each) if each and not each.startswith((UNKNOWN, "-")) else ():
                    fault = self.territory.read_fault(path, below=deep and ("/" in each or each.startswith(".")))
                    if fault is not None:
                        return fault
        return self.territory.read_fault(self.place.cwd)

    def _shown(self, word: str) -> str:
        return VARIABLE.sub(r"$\1", word).replace(UNKNOWN, "...")[:120]


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The command itself, without `sudo`, `env X=y`, `timeout 5` and the words of loops before it."""
    rest = list(words)
    while rest and rest[0].rsplit("/", 1)[-1] in _WRAPPERS:
        wrapper = rest.pop(0).rsplit("/", 1)[-1]
        while rest and (rest[0].startswith("-") or re.fullmatch(r"[A-Za-z_]\w*=.*", rest[0], re.DOTALL)):
            rest.pop(0)
        if wrapper in ("timeout", "nice", "ionice", "taskset", "chrt") and rest and re.match(r"[\d.]", rest[0]):
            rest.pop(0)
    return rest


def _without_options(arguments: Sequence[str]) -> list[str]:
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-n", "-P", "-I", "-L", "-d", "-s", "-a", "-E") and rest:
            rest.pop(0)
    return rest


def _paths(verb: str, arguments: Sequence[str]) -> list[str]:
    """The arguments that are no options, nor the values of the usual ones; all after `--`."""
    paths: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            paths.extend(rest)
        elif argument in _VALUED.get(verb, ()):
            next(rest, None)
        elif not argument.startswith("-") or argument == "-":
            paths.append(argument)
        elif "=" in argument and "/" in argument:
            paths.append(argument.partition("=")[2])
    return [path for path in paths if path not in ("-", ";", "")]


def _recurses(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive", word) for word in words)


def _not_for_agents(arguments: Sequence[str]) -> str:
    name = " ".join(["retain", *arguments][:3])
    return f"`{name}` is the human's to run; an agent may run: retain {', '.join(AGENT_COMMANDS)}"
