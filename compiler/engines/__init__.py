"""The engines that answer the compiler's typed requests.

`extractive` is rules in the reading process. The others are one family: whoever answers, a model (`claude`), a coding
agent (`agent`) or nobody (`journal`), the replies are kept in the vault's journal, and a build is made from there.
"""

EXTRACTIVE = "extractive/2"
FAMILY = "journal/1"
# The engines there are, and the name that each has in digests and files.
VERSIONS = {"extractive": EXTRACTIVE, "claude": FAMILY, "agent": FAMILY, "journal": FAMILY}
