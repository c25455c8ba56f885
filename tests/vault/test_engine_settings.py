"""The table [engine] of the user's settings: the program that compiles, sizes and roles."""

from __future__ import annotations

import pytest

from vault.config.engine import read_engine
from vault.errors import Damaged


def read(body: str) -> object:
    return read_engine(f"[engine]\n{body}\n", "config.toml")


def test_a_command_has_limits_of_its_own_unless_the_settings_name_them() -> None:
    found = read_engine('[engine]\ncompile = "command"\ncommand = ["claude", "-p"]\n', "c")
    assert found.command is not None and found.command.arguments == ("claude", "-p")
    assert (found.command.patience, found.command.concurrency) == (600.0, 2)
    assert found.command.of_role("check") == found.command.of_role("write") == ("claude", "-p")
    text = '[engine]\npatience = 30\nconcurrency = 5\ncommand = ["a"]\ncommand_check = ["b"]\ncommand_env = ["KEY_1"]\n'
    named = read_engine(text, "c").command
    assert named is not None and (named.patience, named.concurrency, named.variables) == (30.0, 5, ("KEY_1",))
    assert named.of_role("check") == ("b",) and named.of_role("read") == ("a",)
    assert read_engine("", "c").command is None


def test_a_small_model_gets_small_parts() -> None:
    assert read_engine("", "c").part_bytes == 40_000
    assert read_engine('[engine]\nsize = "small"\n', "c").part_bytes == 4_000
    assert read_engine('[engine]\nsize = "small"\npart_bytes = 9000\n', "c").part_bytes == 9_000


def test_the_model_that_reads_may_have_the_former_name_of_its_role() -> None:
    assert read_engine('[engine.models]\nextract = "x"\n', "c").compiling("read") == "x"
    assert read_engine('[engine.models]\nextract = "x"\nread = "y"\n', "c").compiling("read") == "y"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('command = "claude -p"', "list of quoted strings"),
        ("command = [1]", "list of quoted strings"),
        ('command = [""]', "a program and its arguments"),
        ('command = ["a\\u0000b"]', "a program and its arguments"),
        ('command = ["./claude"]', "absolute path"),
        ('command = ["bin/claude"]', "absolute path"),
        ('command_check = ["claude"]', "requires `command`"),
        ('command = ["a"]\ncommand_env = ["A=1"]', "variable names"),
        ('compile = "command"', "needs `command = "),
        ('compile = "gpt"', "compile must be one of"),
        ('size = "tiny"', "size must be one of"),
        ("part_bytes = 10", "part_bytes must be a number"),
        ("pages = true", "unknown setting `pages`"),
        ('models = { match = "x" }', "unknown role `match`"),
    ],
)
def test_an_invalid_setting_is_refused_with_its_line(body: str, what: str) -> None:
    with pytest.raises(Damaged, match=what) as refused:
        read(body)
    assert refused.value.where.startswith("config.toml:")
