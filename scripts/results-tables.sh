#!/bin/sh
# Makes the tables of results/tables again from the documents that are kept in results,
# by the lines of results/tables.txt. Run in the root of the repository.
#
#   scripts/results-tables.sh
#
# TERCET (bin/tercet): the program.
set -eu

TERCET=${TERCET:-bin/tercet}
[ -x "$TERCET" ] || { echo "results-tables.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
grep -v '^#' results/tables.txt | while read -r file args; do
	[ "$args" != gone ] || continue
	# shellcheck disable=SC2086 # words and patterns
	"$TERCET" report --format csv $args >"results/tables/$file.new"
	mv "results/tables/$file.new" "results/tables/$file"
	echo "results/tables/$file"
done
