"""What `docs/keys.md` says round its tables."""

from __future__ import annotations

HEAD = """# Keys

Made from the registry in `tui/keys.py`, as are the line at the foot of each screen and the help (`?`).

A key is moved in the settings (`,` at home), or by hand in your own `config.toml`, never in a vault. Several keys are
parted by commas. What cannot be (an unknown name, a key that does something else on the same screen) is named with its
line and left out.

```toml
[keys]
"review.undo" = "z,ctrl+u"
```

Every screen also has the command palette, ctrl+p: everything by name. Whatever can be done by key can be done by mouse.
"""
COLUMNS = "| key | what it does | name |"
EVERYWHERE = "Everywhere"
NAMES = {
    "gaps": "The reading agenda",
    "inbox": "The inbox",
    "edit": "Editing a card",
    "practise": "Practise",
    "work": "Long work",
}
