import re

import pytest

from vault.errors import Damaged, Refused, RetainError, SchemaTooNew
from vault.settings import Settings, read_settings, render_settings

MINE = Settings(vault_id="01K9Z3V0G4T5W6X7Y8Z9ABCDEF", name='a "quoted" näme', timezone="Europe/Berlin", rollover=3)
TEXT = render_settings(MINE)


def test_what_init_writes_is_read_back() -> None:
    assert read_settings(TEXT) == (MINE, [])


def test_an_unknown_key_is_named_with_its_line_and_the_rest_counts() -> None:
    settings, (found,) = read_settings(TEXT + "rollovr = 5\n")
    assert settings == MINE
    assert (found.code, found.line) == ("unknown-setting", TEXT.count("\n") + 1)


@pytest.mark.parametrize(
    "line", ["base_url = 'http://x'", "api_key = 'k'", "command = 'rm'", "[hooks]\na = 1", "endpoint = 'x'"]
)
def test_a_vault_cannot_name_an_endpoint_a_secret_or_a_command(line: str) -> None:
    with pytest.raises(Refused, match=r"may not name"):
        read_settings(TEXT + line + "\n")


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        ('schema = "2.2.0"', 'schema = "2.3.0"', SchemaTooNew, "update retain"),
        ('schema = "2.2.0"', 'schema = "3.0.0"', SchemaTooNew, "nothing was touched"),
        ("rollover = 3", "rollover = 24", Damaged, "from 0 to 23"),
        ("rollover = 3", "rollover = true", Damaged, "from 0 to 23"),
        ("retention = 0.9", "retention = nan", Damaged, "from 0.7 to 0.99"),
        ("Europe/Berlin", "../../etc/passwd", Damaged, "time zone"),
        ("[learning]", "[learning", Damaged, "not TOML"),
        (MINE.vault_id, "x", Damaged, "26 letters"),
    ],
)
def test_a_damaged_setting_is_named_with_file_and_line(old: str, new: str, error: type[RetainError], says: str) -> None:
    assert old in TEXT
    with pytest.raises(error) as raised:
        read_settings(TEXT.replace(old, new))
    assert says in str(raised.value)
    assert re.fullmatch(r"retain\.toml:\d+", raised.value.where)


@pytest.mark.parametrize("schema", ["2.0.0", "2.2.9"])
def test_an_older_schema_and_a_later_patch_are_read(schema: str) -> None:
    assert read_settings(TEXT.replace('"2.2.0"', f'"{schema}"'))[0].schema == schema
