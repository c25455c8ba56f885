"""Names and versions of the engines, as digests and files hold them.

`extractive` is rules in the reading process. The others are one family: a model (`claude`), a program (`command`) or
a coding agent (`agent`) answers, or nobody (`journal`). Answers are stored in the vault's journal, and a build is made
from there.
"""

from __future__ import annotations

EXTRACTIVE = "extractive/5"
FAMILY = "journal/2"
FORMER_FAMILY = "journal/1"  # of vaults whose claims were extracted one by one
VERSIONS = {"extractive": EXTRACTIVE, "claude": FAMILY, "command": FAMILY, "agent": FAMILY, "journal": FAMILY}
