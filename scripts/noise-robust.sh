#!/bin/sh
# The studies of label noise beyond pairs: the noise-robust triplet loss against the
# plain one, attacks on networks that were trained with wrong labels, and clusters of
# their embeddings. What is finished is skipped, so that the same command goes on after
# an interruption. A run that collapses or diverges is a result, and the script goes on.
#
#   scripts/noise-robust.sh                all experiments
#   nice scripts/noise-robust.sh attack    one of them
#
# Experiments:
#   robust      losses under SLN and under exchanged triplets: triplet error, recall@1, NMI
#   found       the rate of noise found from the runs of plain, and what triplet-robust
#               makes of it; needs robust
#   attack      ERS over label noise, undefended, with triplet-robust and with HM
#   clustering  k-means and multicut over label noise with triplet-robust, beside the
#               losses of scripts/clustering.sh, whose runs it makes where they are missing
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# SEEDS (as the configs have it): seeds of each run, such as 0,1,2.
# JOBS (one for each core): runs at a time, each on one thread.
# QUERIES (128): attacked images; the gallery is whole.
# DATASETS (mnist): of clustering; "mnist cifar10" is both.
# TRAIN_FLAGS: flags for tercet train, such as "--set sweep.noise=[none]".
# Logs are in OUT/logs, tables and curves in OUT/tables, as noise-EXPERIMENT.
set -euf

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
SEEDS=${SEEDS:-}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
QUERIES=${QUERIES:-128}
DATASETS=${DATASETS:-mnist}
TRAIN_FLAGS=${TRAIN_FLAGS:-}
configs=configs/noise-robust
export TERCET OUT QUERIES

usage() {
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" >&2
	exit 2
}

failed() {
	echo "noise-robust.sh: $1: exit code $2; the end of $3:" >&2
	tail -n 5 "$3" >&2
	exit 255 # xargs starts no other run
}

# logged LOG COMMAND... appends what the command says to LOG and returns its exit code.
logged() {
	log=$1
	shift
	printf '== %s %s\n' "$(date '+%F %T')" "$*" >>"$log"
	code=0
	"$@" >>"$log" 2>&1 || code=$?
	return $code
}

# trained DIR: the run went to its end.
trained() { grep -q '"status": "finished"' "$1/manifest.json" 2>/dev/null; }

# cluster DIR LOG NAME FLAG... clusters a run unless its clusters are newer.
cluster() {
	dir=$1 log=$2 to=$1/cluster-$3
	shift 3
	if [ "$to/cluster.json" -nt "$dir/manifest.json" ]; then return 0; fi
	logged "$log" "$TERCET" cluster --run "$dir" --out-dir "$to" --no-pictures "$@" || failed "clusters of $dir" $? "$log"
}

# judge WHAT DIR judges a run that went to its end.
judge() {
	what=$1 dir=$2 log=$OUT/logs/$(basename "$2").log
	trained "$dir" || return 0
	case $what in
	clustering)
		cluster "$dir" "$log" kmeans --method kmeans -k 10
		cluster "$dir" "$log" multicut-fit --method multicut --threshold fit
		return 0
		;;
	esac
	logged "$log" "$TERCET" eval --run "$dir" --if-needed --no-pictures || failed "eval of $dir" $? "$log"
	case $what in
	attack)
		logged "$log" "$TERCET" attack --run "$dir" --suite ers --variant both --queries "$QUERIES" --examples 0 --if-needed ||
			failed "attack on $dir" $? "$log"
		;;
	esac
}

if [ "${1:-}" = --judge ]; then # called by xargs below
	judge "$2" "$3"
	exit
fi

case ${1:-} in
-*) usage ;;
esac
[ $# -gt 0 ] || set -- robust found attack clustering

# configs_of EXPERIMENT lists its configs.
configs_of() {
	case $1 in
	robust) echo plain product joint backward odd sigmoid ;;
	found) echo found ;;
	attack) echo attack-none attack-robust attack-hm ;;
	clustering) for d in $DATASETS; do echo "clustering-$d"; done ;;
	*) return 1 ;;
	esac
}

for e in "$@"; do
	configs_of "$e" >/dev/null || { echo "noise-robust.sh: there is no experiment $e" >&2; usage; }
done
[ -x "$TERCET" ] || { echo "noise-robust.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/logs" "$OUT/tables"

sets=$TRAIN_FLAGS
[ -z "$SEEDS" ] || sets="$sets --set sweep.seed=[$SEEDS]"

# list CONFIG prints the directories of its runs.
list() {
	# shellcheck disable=SC2086
	"$TERCET" train --config "$1" $sets --runs-dir "$OUT" --list
}

# train CONFIG LOG FLAG... trains the runs of a sweep.
train() {
	config=$1 log=$2
	shift 2
	code=0
	# shellcheck disable=SC2086
	logged "$log" "$TERCET" train --config "$config" $sets --runs-dir "$OUT" "$@" || code=$?
	case $code in
	0) ;;
	5) echo "$config: some runs collapsed or diverged" ;;
	*) failed "training $config" $code "$log" ;;
	esac
}

# train_found CONFIG LOG trains each run with the noise that was found from the run of
# plain with the same noise and seed.
train_found() {
	n=$(list "$1" | wc -l) i=0
	for dir in $(list "$1"); do
		i=$((i + 1))
		from=$OUT/$(basename "$dir" | sed 's/^robust-found/robust-plain/')
		trained "$from" || { echo "$dir: there is no $from to find its noise from; make robust first" >&2; exit 2; }
		if [ ! -e "$from/noise.json" ]; then
			code=0
			logged "$2" "$TERCET" eval --run "$from" --noise-rate || code=$?
			case $code in
			0) ;;
			3) echo "$from: its noise cannot be told"; continue ;;
			*) failed "noise of $from" $code "$2" ;;
			esac
		fi
		train "$1" "$2" --set loss.noise_from="$from/noise.json" --task "$i/$n"
	done
}

for e in "$@"; do
	runs=
	for c in $(configs_of "$e"); do
		config=$configs/$c.yaml log=$OUT/logs/noise-$c.log
		echo "$config: $(list "$config" | wc -l) runs, log in $log"
		case $e in
		found) train_found "$config" "$log" ;;
		*) train "$config" "$log" --jobs "$JOBS" ;;
		esac
		for dir in $(list "$config"); do [ ! -e "$dir/manifest.json" ] || runs="$runs $dir"; done
	done
	# shellcheck disable=SC2086
	[ -z "$runs" ] || printf '%s\n' $runs | GOMAXPROCS=1 xargs -P "$JOBS" -n 1 "$0" --judge "$e"
	table=noise-robust
	case $e in
	found) # beside plain and joint, where the noise is known
		for c in plain joint; do runs="$runs $(list "$configs/$c.yaml")"; done
		;;
	attack) table=noise-attack ;;
	clustering)
		table=clustering
		# shellcheck disable=SC2086
		scripts/clustering.sh $DATASETS
		for d in $DATASETS; do
			for l in l1 l2 l3; do runs="$runs $(list "configs/clustering/$d-$l.yaml")"; done
		done
		;;
	esac
	file=$OUT/tables/noise-$e
	for f in text:txt markdown:md latex:tex csv:csv; do
		# shellcheck disable=SC2086
		"$TERCET" report --table $table --format "${f%:*}" $runs >"$file.${f#*:}"
	done
	# shellcheck disable=SC2086
	"$TERCET" report --table $table --curves "$file" --json $runs >"$file.json"
	cat "$file.txt"
done
