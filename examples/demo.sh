#!/bin/sh
# The demo: a vault from the example sources, what came of them, and the first review.
# usage: demo.sh RETAIN VAULT   (`make demo` calls it; a vault that is there already is kept, reviews and all)
set -eu
retain=$1
vault=$2
sources=$(dirname "$0")/sources

if [ -f "$vault/retain.toml" ]; then
    echo "Using the vault in $vault; your reviews are kept (\`make demo-clean\` starts afresh)."
else
    "$retain" init "$vault"
fi
"$retain" --vault "$vault" add "$sources"
"$retain" --vault "$vault" compile
echo
"$retain" --vault "$vault" status
echo
"$retain" --vault "$vault" gaps

if [ -t 0 ] && [ -t 1 ]; then
    exec "$retain" --vault "$vault" review
fi

echo
"$retain" --vault "$vault" due
cat <<END

There is no terminal here, so the review was not opened. To go on:

    $retain --vault $vault review      today's cards, in the terminal
    $retain --vault $vault export anki deck.apkg
    open $vault in Obsidian, or read $vault/wiki/_index.md
END
