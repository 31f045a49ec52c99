#!/bin/sh
# Prints the licenses of what is linked into a binary besides Tercet: licenses.sh BINARY.
# Their terms want them to go with it.
set -eu
rule() { printf '\n%s\n' "------------------------------------------------------------------------"; }
echo "Tercet contains the packages below, each under its own terms."
rule; echo "Go: its standard library and runtime"; cat "$(go env GOROOT)/LICENSE"
go version -m "$1" | awk '$1 == "dep" { print $2 "@" $3 }' | while read -r module; do
	dir=$(go list -m -f '{{.Dir}}' "$module")
	[ -n "$dir" ] || { echo "licenses.sh: $module is not in the module cache" >&2; exit 1; }
	rule; echo "$module"
	found=
	for f in "$dir"/LICENSE* "$dir"/LICENCE* "$dir"/COPYING* "$dir"/NOTICE*; do
		[ -f "$f" ] && { found=1; cat "$f"; }
	done
	[ -n "$found" ] || { echo "licenses.sh: $module has no license file" >&2; exit 1; }
done
rule; echo "uPlot 1.6.32, which pages of tercet report contain"; cat "$(dirname "$0")/../internal/render/page/uplot-LICENSE.txt"
