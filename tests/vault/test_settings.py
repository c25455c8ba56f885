import re
from datetime import timedelta

import pytest

from vault.config.settings import SCHEMA_VERSION, Settings, read_settings, render_settings
from vault.errors import Damaged, Refused, RetainError, SchemaTooNew

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
    with pytest.raises(Refused, match=r"not allowed"):
        read_settings(TEXT + line + "\n")


@pytest.mark.parametrize(
    ("old", "new", "error", "says"),
    [
        (f'schema = "{SCHEMA_VERSION}"', 'schema = "2.99.0"', SchemaTooNew, "update retain"),
        (f'schema = "{SCHEMA_VERSION}"', 'schema = "3.0.0"', SchemaTooNew, "nothing was changed"),
        ("rollover = 3", "rollover = 24", Damaged, "from 0 to 23"),
        ("rollover = 3", "rollover = true", Damaged, "from 0 to 23"),
        ("retention = 0.9", "retention = nan", Damaged, "from 0.7 to 0.99"),
        ("Europe/Berlin", "../../etc/passwd", Damaged, "time zone"),
        ("[learning]", "[learning", Damaged, "not TOML"),
        (MINE.vault_id, "x", Damaged, "26-character"),
        ("rollover = 3", 'learning_steps = "1m"', Damaged, "like"),
        ("rollover = 3", 'relearning_steps = ["10"]', Damaged, "like"),
        ("rollover = 3", 'learning_steps = ["0m"]', Damaged, "greater than zero"),
        ("rollover = 3", "maximum_interval = 0", Damaged, "from 1 to"),
        ("rollover = 3", 'fuzz = "yes"', Damaged, "true or false"),
        ("rollover = 3", 'leech_action = "delete"', Damaged, "suspend"),
        ("rollover = 3", "retention_by_tag = { exam = 1.5 }", Damaged, "from 0.7 to 0.99"),
        ("rollover = 3", 'rollover = 3\n[freshness]\n"raw/policies" = "soon"', Damaged, '"1 day"'),
        ("rollover = 3", 'rollover = 3\n[freshness]\n"raw/policies" = "0 days"', Damaged, '"1 day"'),
        ("rollover = 3", 'rollover = 3\n[freshness]\n"raw/policies" = 3', Damaged, '"1 day"'),
        ("rollover = 3", 'rollover = 3\n[freshness]\n"../policies" = "1 day"', Damaged, "folder in raw/"),
        ("rollover = 3", 'rollover = 3\n[freshness]\n"wiki/x" = "1 day"', Damaged, "folder in raw/"),
    ],
)
def test_a_damaged_setting_is_named_with_file_and_line(old: str, new: str, error: type[RetainError], says: str) -> None:
    assert old in TEXT
    with pytest.raises(error) as raised:
        read_settings(TEXT.replace(old, new))
    assert says in str(raised.value)
    assert re.fullmatch(r"retain\.toml:\d+", raised.value.where)


@pytest.mark.parametrize("schema", ["2.0.0", "2.3.9"])
def test_an_older_schema_and_a_later_patch_are_read(schema: str) -> None:
    assert read_settings(TEXT.replace(f'"{SCHEMA_VERSION}"', f'"{schema}"'))[0].schema == schema


def test_what_the_comments_of_a_new_vault_show_are_the_settings_that_hold() -> None:
    lines = [line.removeprefix("# ") for line in TEXT.splitlines()]
    shown = "\n".join(line for line in lines if re.match(r"[a-z_]+ = |\[", line) and not line.startswith("exam"))
    assert read_settings(shown) == (MINE, [])


def test_steps_and_the_retention_of_tags_are_read() -> None:
    more = 'learning_steps = ["30s", "2h", "1d"]\nrelearning_steps = []\n[learning.retention_by_tag]\n"#Exam" = 0.95\n'
    settings, found = read_settings(TEXT + more)
    assert found == []
    assert settings.learning_steps == (timedelta(seconds=30), timedelta(hours=2), timedelta(days=1))
    assert (settings.relearning_steps, settings.retention_by_tag) == ((), {"exam": 0.95})


def test_the_freshness_of_folders_is_read_whatever_they_are_called() -> None:
    more = '[freshness]\nraw = "2 weeks"\n"raw/command-line/" = "1 day"\n"raw/command-line/keys" = "36 hours"\n'
    settings, found = read_settings(TEXT + more)
    assert found == []
    folders = {"raw": timedelta(days=14), "raw/command-line": timedelta(days=1)}
    assert settings.freshness == folders | {"raw/command-line/keys": timedelta(hours=36)}


def test_a_wrong_time_is_named_with_the_line_of_its_own_folder() -> None:
    text = TEXT + '[freshness]\n"raw/policies/hr" = "1 day"\n"raw/policies-old" = "1 day"\n"raw/policies" = "daily"\n'
    with pytest.raises(Damaged) as caught:
        read_settings(text)
    assert caught.value.where == f"retain.toml:{text.count(chr(10))}" and "raw/policies'" in caught.value.what


@pytest.mark.parametrize("steps", ["5", '"1m"', "[5]", '["1m", "x"]', "true"])
def test_steps_that_are_no_list_of_times_are_named_with_their_line(steps: str) -> None:
    text = render_settings(Settings("0" * 26, "v")).replace(
        '# learning_steps = ["1m", "10m"]', f"learning_steps = {steps}"
    )
    with pytest.raises(Damaged, match="learning_steps must be a list") as caught:
        read_settings(text)
    assert caught.value.where.endswith(f":{text[: text.index('learning_steps')].count(chr(10)) + 1}")


def test_easy_days_are_shares_of_a_usual_day_from_monday_on() -> None:
    easy = TEXT.replace("# easy_days = []", 'easy_days = ["sat:50%", "sun:0%"]')
    settings, found = read_settings(easy)
    assert settings.easy_shares == (1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0) and found == []
    assert MINE.easy_shares == (1.0,) * 7
    for wrong in ('["sat:101%"]', '["sat:5%", "sat:6%"]', '["caturday:5%"]', '"sat:5%"', "[5]"):
        with pytest.raises(Damaged, match="easy_days must be a list like"):
            read_settings(TEXT.replace("# easy_days = []", f"easy_days = {wrong}"))
