#!/bin/sh
# The demo: a vault from the example sources, what came of them, and the first review.
# usage: demo.sh RETAIN VAULT   (`make demo` calls it; a vault that is there already is kept, reviews and all)
set -eu
retain=$1
vault=$2
sources=$(dirname "$0")/sources
page=$vault/learning/_review.md

if [ -f "$vault/retain.toml" ]; then
    echo "Using the vault in $vault: your reviews are kept (\`make demo-clean\` throws it away)."
else
    "$retain" init "$vault" 2>/dev/null
    echo "A new vault in $vault."
fi
echo
echo "Sources from $sources:"
"$retain" --vault "$vault" add "$sources"
echo
echo "Compiled, offline and without a model:"
"$retain" --vault "$vault" compile

echo
echo "Concepts:"
sed -n '/^## Concepts/,/^## Sources/s/^- \[\[[^|]*|\([^]]*\)\]\].*/\1/p' "$vault/wiki/_index.md" |
    awk '{ line = line (NR > 1 ? ", " : "") $0 } END { print line }' | fold -s -w 100 | sed 's/^/  /'

echo
echo "Cards:"
for kind in definitional mechanistic relational applied; do
    number=$(grep -c " | $kind | " "$page" || true)
    [ "$number" -gt 0 ] || continue
    echo "  $number $kind, such as"
    heading=$(printf '%s' "$kind" | cut -c1 | tr '[:lower:]' '[:upper:]')$(printf '%s' "$kind" | cut -c2-)
    cat "$vault"/learning/flashcards/*.md |
        awk -v h="## $heading" '/^## / { on = $0 == h } on && /^[QA]: / { print "      " $0; if (++n == 2) exit }'
done

echo
echo "Gaps:"
"$retain" --vault "$vault" gaps list --limit 5

if [ -t 0 ] && [ -t 1 ]; then
    exec "$retain" --vault "$vault" review
fi

echo
echo "Review queue:"
"$retain" --vault "$vault" due
cat <<END

There is no terminal here, so the review was not opened. To go on, in a terminal:

    $retain --vault $vault review
    $retain --vault $vault export anki deck.apkg

or open the folder $vault in Obsidian.
END
