#!/bin/sh
# Written by `retain init --host`: refuses a commit that a coding agent makes if it touches insights/, raw/, ledger/ or the
# review log. Your own commits pass. Politeness, not a barrier: `git commit --no-verify` goes round it.
retain=@RETAIN@
if [ -x "$retain" ]; then
    "$retain" @WORDS@ guard hook @HOOK@ --vault @VAULT@ @REST@ && exit 0
    # 1 is what it says of such a commit, and what Python says where nothing of retain is left.
    [ $? -eq 1 ] && "$retain" @WORDS@ --version >/dev/null 2>&1 && exit 1
fi
[ -z "@MARKS@" ] && exit 0
echo "retain is gone from $retain or does not work: an agent's commit cannot be checked" >&2
exit 1
