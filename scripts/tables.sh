#!/bin/sh
# Trains, judges and attacks the runs that tables of the papers need, then prints the
# tables. What is finished and up to date is skipped, so that the same command goes on
# after an interruption; a run that tables share is made once. A run that collapses is
# a result: the tables show it, and the script goes on.
#
#   scripts/tables.sh small hm-grid destinations ics      presets: small, full, mnist
#   nice scripts/tables.sh mnist mnist
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# SEEDS (as the configs have it): seeds of each run, such as 0,1,2.
# QUERIES (small 256, mnist 2000, full all): attacked images; the gallery is whole.
# TRAIN_FLAGS: flags for tercet train, such as "--set data.root=FOLDER".
# Logs are in OUT/logs, tables in OUT/tables. A run kept in OUT without checkpoints, as
# results/ has them, counts as made: cp -r results/* runs/ goes on from there.
set -eu

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
SEEDS=${SEEDS:-}
TRAIN_FLAGS=${TRAIN_FLAGS:-}
configs=configs/tables
eta8='sweep.defense.pgd.steps=[8]'

usage() {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
	exit 2
}

[ $# -ge 2 ] || usage
preset=$1
shift
case $preset in
small) before=$configs/small/ queries=${QUERIES:-256} ;;
mnist) before=$configs/mnist/ queries=${QUERIES:-2000} ;;
full) before=$configs/full/cub- queries=${QUERIES:-0} ;;
*) echo "tables.sh: there is no preset $preset; there are small, full, mnist" >&2; exit 2 ;;
esac

# runs_of TABLE prints the configs of its runs, each with what is set in its sweep.
runs_of() {
	case $preset:$1 in
	mnist:mnist) printf '%s\n' none est act hm-lga hm-lga-ics ;;
	mnist:ball) printf '%s\n' est-ball act-ball hm-lga-ics-ball ;;
	mnist:complete) printf '%s\n' complete-none complete-hm-lga-ics ;;
	mnist:complete-32) printf '%s\n' complete-none complete-hm-lga-ics-32 ;;
	mnist:*) return 1 ;;
	*:hm-grid | *:tab11) echo hm-grid ;;
	*:u | *:tab7) printf '%s\n' "hm-lga $eta8" hm-u ;;
	*:gradual | *:tab9) printf '%s\n' "hm-lga $eta8" hm-gradual ;;
	*:ics-margin | *:tab10) printf '%s\n' "hm-lga-ics $eta8" hm-ics-margin ;;
	small:ics-sop | small:tab8) echo 'hm-lga-ics sweep.defense.pgd.steps=[8,32]' ;;
	full:ics-sop | full:tab8) echo ../sop-hm-lga-ics-strong ;;
	*:destinations)
		echo 'hm-grid sweep.defense.source=[softhard] sweep.defense.destination=[semihard]'
		printf '%s\n' hm-boost hm-constant "hm-half-margin $eta8" "hm-lga $eta8" hm-gradual
		;;
	*:ics) printf '%s\n' "hm-lga $eta8" hm-ics-lambda "hm-lga-ics $eta8" hm-ics-margin ;;
	*:efficiency)
		printf '%s\n' none est act act-softhard hm-random-semihard hm-softhard-semihard hm-half-margin hm-lga hm-lga-ics
		echo 'hm-grid sweep.defense.source=[random,softhard] sweep.defense.destination=[semihard]'
		;;
	full:sota)
		for d in cub cars sop; do
			echo "../$d-none"
			for m in est act hm-lga hm-lga-ics; do echo "../$d-$m sweep.defense.pgd.steps=[8,32]"; done
		done
		;;
	*) return 1 ;;
	esac
}

# config_of NAME is the config's file.
config_of() {
	case $1 in
	../*) echo "$configs/full/${1#../}.yaml" ;;
	*) echo "$before$1.yaml" ;;
	esac
}

for t in "$@"; do
	runs_of "$t" >/dev/null || { echo "tables.sh: preset $preset has no table $t" >&2; exit 2; }
done
[ -x "$TERCET" ] || { echo "tables.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/logs" "$OUT/tables"

# logged LOG COMMAND... appends what the command says to LOG and returns its exit code.
logged() {
	log=$1
	shift
	printf '== %s %s\n' "$(date '+%F %T')" "$*" >>"$log"
	code=0
	"$@" >>"$log" 2>&1 || code=$?
	return $code
}

failed() {
	echo "tables.sh: $1: exit code $2; the end of $3:" >&2
	tail -n 5 "$3" >&2
	exit "$2"
}

# make_run DIR LOG TRAIN... trains a run, then makes eval.json and attack.json unless
# they are there with the same options and of the last checkpoint.
make_run() {
	dir=$1 log=$2
	shift 2
	if [ -e "$dir/manifest.json" ] && [ ! -e "$dir/checkpoints" ]; then
		echo "$dir: results kept from before"
		return 0
	fi
	code=0
	logged "$log" "$@" || code=$?
	case $code in
	0) ;;
	5) echo "$dir: collapsed or diverged"; return 0 ;;
	*) failed "training $dir" $code "$log" ;;
	esac
	logged "$log" "$TERCET" eval --run "$dir" --if-needed || failed "eval of $dir" $? "$log"
	logged "$log" "$TERCET" attack --run "$dir" --suite ers --variant both --queries "$queries" --examples 0 --if-needed ||
		failed "attack on $dir" $? "$log"
	echo "$dir: done"
}

# make_runs CONFIG SET... makes all runs of a sweep and adds them to the list.
make_runs() {
	config=$(config_of "$1")
	shift
	sets=
	for s in "$@"; do sets="$sets --set $s"; done
	[ -z "$SEEDS" ] || sets="$sets --set sweep.seed=[$SEEDS]"
	# shellcheck disable=SC2086
	dirs=$("$TERCET" train --config "$config" $sets $TRAIN_FLAGS --runs-dir "$OUT" --list)
	n=$(echo "$dirs" | wc -l)
	i=0
	for dir in $dirs; do
		i=$((i + 1))
		echo "$dir" >>"$list"
		case " $made " in *" $dir "*) continue ;; esac
		made="$made $dir"
		# shellcheck disable=SC2086
		make_run "$dir" "$OUT/logs/$(basename "$dir").log" "$TERCET" train --config "$config" $sets $TRAIN_FLAGS --runs-dir "$OUT" --task "$i/$n"
	done
}

made=
for t in "$@"; do
	list=$OUT/tables/$preset-$t.runs
	: >"$list"
	runs_of "$t" >"$list.configs"
	while read -r line; do
		# shellcheck disable=SC2086
		make_runs $line </dev/null
	done <"$list.configs"
	rm -f "$list.configs"
done

for t in "$@"; do
	table=$t
	case $preset:$t in mnist:*) table=mnist ;; esac
	list=$OUT/tables/$preset-$t.runs
	for f in text:txt markdown:md latex:tex csv:csv; do
		# shellcheck disable=SC2046
		"$TERCET" report --table "$table" --variant both --format "${f%:*}" $(cat "$list") >"$OUT/tables/$preset-$t.${f#*:}"
	done
	# shellcheck disable=SC2046
	"$TERCET" report --table "$table" --variant both --json $(cat "$list") >"$OUT/tables/$preset-$t.json"
	grid=
	case $table in hm-grid | tab11) grid="--grid R@1,ERS" ;; esac
	# shellcheck disable=SC2046,SC2086
	"$TERCET" report --table "$table" $grid $(cat "$list")
done
