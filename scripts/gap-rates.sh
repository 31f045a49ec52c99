#!/bin/sh
# How the generalisation gap of c2f2 falls with the number of MNIST images that it is
# trained on: trains the runs of configs/stability/gap-c2f2.yaml and their references,
# measures each run's gap with the reference of its draw as control variate, prints the
# table and draws the picture. What is finished is skipped, so that the same command goes
# on after an interruption.
#
#   scripts/gap-rates.sh
#   TRAIN_FLAGS='--set train.steps=5' SIZES=25,50 DRAWS=0,1 OUT=/tmp/gap scripts/gap-rates.sh
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# SIZES (25,50,...,1600): training images of each digit, at most 1600.
# DRAWS (0,1,2,3,4): seeds of the draw of test images and subsets.
# TRAIN_FLAGS, EVAL_FLAGS: flags for tercet train and tercet eval --gap, such as
# "--set data.root=FOLDER" and "--triplets 20000".
# Gaps are in OUT/gap-c2f2-*/gap.json, table and picture in OUT/tables: gap-rates.txt (md,
# tex, csv, json), gap-rates-mnist.png.
set -euf

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
SIZES=${SIZES:-25,50,100,200,400,800,1600}
DRAWS=${DRAWS:-0,1,2,3,4}
TRAIN_FLAGS=${TRAIN_FLAGS:-}
EVAL_FLAGS=${EVAL_FLAGS:-}
configs=configs/stability

case ${1:-} in
?*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
	exit 2
	;;
esac
[ -x "$TERCET" ] || { echo "gap-rates.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/tables"

# sweep CONFIG FLAG... trains the runs of a config and leaves their directories in dirs.
sweep() {
	config=$configs/$1.yaml
	shift
	# shellcheck disable=SC2086
	"$TERCET" train --config "$config" $TRAIN_FLAGS "$@" --runs-dir "$OUT" >/dev/null
	# shellcheck disable=SC2086
	dirs=$("$TERCET" train --config "$config" $TRAIN_FLAGS "$@" --runs-dir "$OUT" --list)
}

runs=
for draw in $(echo "$DRAWS" | tr , ' '); do
	sweep gap-c2f2-reference --set "sweep.data.split.seed=[$draw]"
	reference=$dirs
	sweep gap-c2f2 --set "sweep.data.limit_per_class=[$SIZES]" --set "sweep.data.split.seed=[$draw]"
	for run in $dirs; do
		runs="$runs $run"
		doc=$run/gap.json
		if [ "$doc" -nt "$run/manifest.json" ] && [ "$doc" -nt "$reference/manifest.json" ] && grep -q '"reference"' "$doc"; then
			continue
		fi
		# shellcheck disable=SC2086
		"$TERCET" eval --run "$run" --gap --reference "$reference" $EVAL_FLAGS >/dev/null
		echo "$doc: done"
	done
done

for f in text:txt markdown:md latex:tex csv:csv json:json; do
	format="--format ${f%:*}"
	[ "$f" != json:json ] || format=--json
	# shellcheck disable=SC2086
	"$TERCET" report --table gap $format $runs >"$OUT/tables/gap-rates.${f#*:}"
done
cat "$OUT/tables/gap-rates.txt"
# shellcheck disable=SC2086
"$TERCET" report --table gap --curves "$OUT/tables/gap-rates" $runs >/dev/null
