#!/bin/sh
# The stability study: puts the claims about the stability of triplet metric learning to
# the test (T1 to T7; T4 is fault S1 and T7 is S4 of the paper, S2 its counterexample) on
# MNIST, on Omniglot and, of S2, on the unit circle, then prints the tables and draws the
# pictures. What is finished is skipped, so that the same command goes on after an
# interruption.
#
#   scripts/stability.sh                     all: mnist, omniglot, circle
#   nice scripts/stability.sh mnist
#
# Seen: 11 to 17 minutes on one thread of a busy machine. Longest are S2 (6 minutes on MNIST,
# 2.5 on the circle) and T5 (2).
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# JOBS (one for each core): claims at a time, each on its share of the cores.
# REPEATS: repeats of each setting, in place of each claim's own number.
# TRAIN_FLAGS: flags for tercet train, such as "--set data.root=FOLDER".
# Documents are in OUT/stability-DATA/stability (the circle's with MNIST's), logs in OUT/logs, tables and pictures in
# OUT/tables: stability.txt, stability-checks.txt, stability-DATA-CLAIM.png.
set -euf

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
REPEATS=${REPEATS:-}
TRAIN_FLAGS=${TRAIN_FLAGS:-}
configs=configs/stability
cores=$(getconf _NPROCESSORS_ONLN)
JOBS=${JOBS:-$cores}

# one DATA CLAIM tests a claim, unless its document is newer than the run. The verdict is
# a result whatever it is.
one() {
	data=$1 claim=$2 run=$OUT/stability-$1
	doc=$run/stability/$claim.json
	flags=
	case $data in
	omniglot) flags='--positive Korean.*' ;;
	circle)
		run=$OUT/stability-mnist flags=--circle
		doc=$run/stability/$claim-circle.json
		;;
	esac
	if [ "$doc" -nt "$run/manifest.json" ]; then return 0; fi
	log=$OUT/logs/stability-$data-$claim.log
	[ -z "$REPEATS" ] || flags="$flags --repeats $REPEATS"
	code=0
	# shellcheck disable=SC2086
	"$TERCET" eval --run "$run" --stability --claim "$claim" $flags --no-pictures >"$log" 2>&1 || code=$?
	if [ $code -ne 0 ]; then
		echo "stability.sh: claim $claim on $data: exit code $code; the end of $log:" >&2
		tail -n 5 "$log" >&2
		exit 255 # xargs starts no other claim
	fi
	echo "$doc: done"
}

if [ "${1:-}" = --one ]; then # called by xargs below
	shift
	one "$@"
	exit
fi

case ${1:-} in
-*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
	exit 2
	;;
esac
[ $# -gt 0 ] || set -- mnist omniglot circle
[ -x "$TERCET" ] || { echo "stability.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/logs" "$OUT/tables"

tasks=$OUT/tables/stability.tasks
: >"$tasks"
dirs=
for d in "$@"; do
	config=$d
	case $d in
	mnist) claims='T5 S2 T3 T6 T7 T1 T2 T4' ;; # the longest first
	omniglot) claims='T5 T3 T6 T7 T1 T2 T4' ;; # too few images for S2
	circle) claims=S2 config=mnist ;;
	*) echo "stability.sh: there is no data set $d; choose mnist, omniglot, circle" >&2; exit 2 ;;
	esac
	if ! [ -e "$OUT/stability-$config/checkpoints/last.safetensors" ]; then
		# shellcheck disable=SC2086
		"$TERCET" train --config "$configs/study-$config.yaml" $TRAIN_FLAGS --runs-dir "$OUT"
	fi
	for c in $claims; do echo "$d $c" >>"$tasks"; done
	case "$dirs " in
	*"/stability-$config/"*) ;;
	*) dirs="$dirs $OUT/stability-$config/stability" ;;
	esac
done

export TERCET OUT REPEATS
share=$((cores / JOBS))
[ "$share" -ge 1 ] || share=1
GOMAXPROCS=${GOMAXPROCS:-$share} xargs -P "$JOBS" -n 2 "$0" --one <"$tasks"

for t in stability stability-checks; do
	for f in text:txt markdown:md latex:tex csv:csv; do
		# shellcheck disable=SC2086
		"$TERCET" report --table $t --format "${f%:*}" $dirs >"$OUT/tables/$t.${f#*:}"
	done
	cat "$OUT/tables/$t.txt"
done
# shellcheck disable=SC2086
"$TERCET" report --table stability --curves "$OUT/tables/stability" $dirs >/dev/null
