#!/bin/sh
# The study of wrong labels and wrong pairs (DIBS): trains the runs of its experiments,
# then prints their tables and draws their curves. What is finished is skipped, so that
# the same command goes on after an interruption. A run that collapses or diverges is a
# result, and the script goes on.
#
#   scripts/dibs.sh                              small preset, all but cosine
#   nice scripts/dibs.sh small double-descent    one experiment
#   scripts/dibs.sh paper floor                  the paper's sizes; all of them: days
#
# Experiments:
#   double-descent  train and test error over width and over epochs, S1 and S2
#   double-descent-6000  over width with the paper's 6,000 pairs, fewer epochs; not
#                   among all
#   floor           training error over number of classes and over noise, same-index and
#                   random negatives
#   online-mnist    online against offline training, aligned on steps: distorted MNIST
#   online-glyphs   the same on characters, none of which is drawn twice
#   order           lists of a class shuffled, or sorted as the paper's algorithms leave them
#   cosine          double descent with the cosine loss; not among all
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# SEEDS (as the configs have it): seeds of each run, such as 0,1,2.
# JOBS (auto, one for each core): runs at a time, each on one thread.
# TRAIN_FLAGS: flags for tercet train, such as "--set sweep.noise=[none]".
# Logs are in OUT/logs, tables and curves in OUT/tables, as dibs-PRESET-TABLE.
set -euf

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
SEEDS=${SEEDS:-}
JOBS=${JOBS:-auto}
TRAIN_FLAGS=${TRAIN_FLAGS:-}

usage() {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
	exit 2
}

preset=small
case ${1:-} in
small | paper) preset=$1; shift ;;
-*) usage ;;
esac
case $preset in
small) configs=configs/dibs ;;
paper) configs=configs/dibs/paper ;;
esac
[ $# -gt 0 ] || set -- floor order double-descent online-mnist online-glyphs

# configs_of EXPERIMENT and tables_of EXPERIMENT list its configs and its tables.
configs_of() {
	case $1 in
	double-descent) echo double-descent ;;
	double-descent-6000) echo double-descent-6000 ;;
	cosine) echo double-descent-cosine ;;
	floor) echo floor-classes floor-noise floor-controls ;;
	online-*) [ -f "configs/dibs/$1.yaml" ] && echo "$1 off${1#on}" ;;
	order) echo order ;;
	*) return 1 ;;
	esac
}

tables_of() {
	case $1 in
	double-descent | double-descent-6000) echo pairs double-descent pair-epochs pair-claims ;;
	cosine) echo pairs double-descent pair-claims ;;
	floor) echo pairs pair-floor pair-claims ;;
	order) echo pairs pair-claims ;;
	online-*) echo online-offline pair-claims ;;
	esac
}

for e in "$@"; do
	configs_of "$e" >/dev/null || { echo "dibs.sh: there is no experiment $e" >&2; usage; }
done
[ -x "$TERCET" ] || { echo "dibs.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/logs" "$OUT/tables"

sets=$TRAIN_FLAGS
[ -z "$SEEDS" ] || sets="$sets --set sweep.seed=[$SEEDS]"

# train CONFIG trains the runs of a sweep and adds their directories to $runs.
train() {
	config=$configs/$1.yaml
	[ -f "$config" ] || config=configs/dibs/$1.yaml # the paper's sizes in both presets
	log=$OUT/logs/dibs-$preset-$1.log
	# shellcheck disable=SC2086
	dirs=$("$TERCET" train --config "$config" $sets --runs-dir "$OUT" --list)
	echo "$config: $(echo "$dirs" | wc -l) runs, log in $log"
	printf '== %s %s\n' "$(date '+%F %T')" "$config" >>"$log"
	code=0
	# shellcheck disable=SC2086
	"$TERCET" train --config "$config" $sets --runs-dir "$OUT" --jobs "$JOBS" >>"$log" 2>&1 || code=$?
	case $code in
	0) ;;
	5) echo "$config: some runs collapsed or diverged" ;;
	*)
		echo "dibs.sh: training $config: exit code $code; the end of $log:" >&2
		tail -n 5 "$log" >&2
		exit "$code"
		;;
	esac
	runs="$runs $dirs"
}

for e in "$@"; do
	runs=
	for c in $(configs_of "$e"); do train "$c"; done
	for t in $(tables_of "$e"); do
		file=$OUT/tables/dibs-$preset-$e-$t
		[ "$e" != "$t" ] || file=$OUT/tables/dibs-$preset-$t
		# shellcheck disable=SC2086
		[ "$t" != pair-floor ] || "$TERCET" bound partition $runs >/dev/null # stored with the runs
		for f in text:txt markdown:md latex:tex csv:csv; do
			# shellcheck disable=SC2086
			"$TERCET" report --table "$t" --format "${f%:*}" $runs >"$file.${f#*:}"
		done
		curves="--curves $file"
		case $t in pairs | pair-claims) curves= ;; esac # they have no picture
		# shellcheck disable=SC2086
		"$TERCET" report --table "$t" $curves --json $runs >"$file.json"
		cat "$file.txt"
	done
done
