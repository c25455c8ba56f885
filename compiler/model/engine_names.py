"""Names and versions of the engines, as digests and files hold them.

`extractive` is rules in the reading process. The others are one family: whoever replies, a model (`claude`), a coding
agent (`agent`) or nobody (`journal`), replies are kept in the vault's journal, and a build is made from there.
"""

from __future__ import annotations

EXTRACTIVE = "extractive/4"
FAMILY = "journal/1"
VERSIONS = {"extractive": EXTRACTIVE, "claude": FAMILY, "agent": FAMILY, "journal": FAMILY}
