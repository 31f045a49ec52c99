#!/bin/sh
# The clustering study: trains L1, L2 and L3 under label noise, clusters each run's test
# images by k-means with k = 10 and by multicut, then prints the tables and draws the
# curves. What is finished is skipped, so that the same command goes on after an
# interruption. A run that collapses is a result: the table names it, and the script
# goes on.
#
#   scripts/clustering.sh                    both data sets: mnist, cifar10
#   nice scripts/clustering.sh mnist
#
# TERCET (bin/tercet), OUT (runs): the program, the folder of the runs.
# SEEDS (0,1,2), RATES (0,0.1,0.2,0.3,0.4,0.5), LOSSES ("l1 l2 l3"): what to run.
# JOBS (one for each core): runs at a time, each on its share of the cores.
# TRAIN_FLAGS: flags for tercet train, such as "--set data.root=FOLDER".
# Logs are in OUT/logs, tables and curves in OUT/tables: clustering.txt, or, of data sets
# that are named, clustering-mnist.txt.
set -euf

TERCET=${TERCET:-bin/tercet}
OUT=${OUT:-runs}
SEEDS=${SEEDS:-}
RATES=${RATES:-}
LOSSES=${LOSSES:-l1 l2 l3}
TRAIN_FLAGS=${TRAIN_FLAGS:-}
configs=configs/clustering
cores=$(getconf _NPROCESSORS_ONLN)
JOBS=${JOBS:-$cores}

# Runs whose multicuts are drawn: one clean and one noisy run of each loss.
pictured='rate-0_seed-0 rate-0.4_seed-0'

failed() {
	echo "clustering.sh: $1: exit code $2; the end of $3:" >&2
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

# cluster NAME FLAG... clusters the run $dir into $dir/cluster-NAME, unless that is
# newer than the run.
cluster() {
	to=$dir/cluster-$1
	shift
	if [ "$to/cluster.json" -nt "$dir/manifest.json" ]; then return 0; fi
	logged "$log" "$TERCET" cluster --run "$dir" --out-dir "$to" "$@" $pictures || failed "clusters of $dir" $? "$log"
}

# one CONFIG TASK DIR makes one run of a sweep and its clusters.
one() {
	config=$1 task=$2 dir=$3
	log=$OUT/logs/$(basename "$dir").log
	code=0
	# shellcheck disable=SC2086
	logged "$log" "$TERCET" train --config "$config" $sets --runs-dir "$OUT" --task "$task" || code=$?
	case $code in
	0) ;;
	5) echo "$dir: collapsed or diverged"; return 0 ;;
	*) failed "training $dir" $code "$log" ;;
	esac
	pictures=--no-pictures
	cluster kmeans --method kmeans -k 10
	for p in $pictured; do
		case $dir in *-"$p") pictures= ;; esac
	done
	case $config in
	*-l1.yaml) ;; # its margin fixes no threshold
	*) cluster multicut-margins --method multicut --threshold margins ;;
	esac
	cluster multicut-fit --method multicut --threshold fit
	echo "$dir: done"
}

sets=$TRAIN_FLAGS
[ -z "$SEEDS" ] || sets="$sets --set sweep.seed=[$SEEDS]"
[ -z "$RATES" ] || sets="$sets --set sweep.noise.rate=[$RATES]"

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
name=clustering
if [ $# -gt 0 ]; then
	name=clustering-$(echo "$*" | tr ' ' -)
else
	set -- mnist cifar10
fi
for d in "$@"; do
	for l in $LOSSES; do
		[ -f "$configs/$d-$l.yaml" ] || { echo "clustering.sh: there is no $configs/$d-$l.yaml" >&2; exit 2; }
	done
done
[ -x "$TERCET" ] || { echo "clustering.sh: there is no $TERCET; make build makes it" >&2; exit 2; }
mkdir -p "$OUT/logs" "$OUT/tables"

tasks=$OUT/tables/$name.tasks
: >"$tasks"
for d in "$@"; do
	for l in $LOSSES; do
		config=$configs/$d-$l.yaml
		# shellcheck disable=SC2086
		dirs=$("$TERCET" train --config "$config" $sets --runs-dir "$OUT" --list)
		n=$(echo "$dirs" | wc -l)
		i=0
		for dir in $dirs; do
			i=$((i + 1))
			echo "$config $i/$n $dir" >>"$tasks"
		done
	done
done

export TERCET OUT SEEDS RATES TRAIN_FLAGS
share=$((cores / JOBS))
[ "$share" -ge 1 ] || share=1
GOMAXPROCS=${GOMAXPROCS:-$share} xargs -P "$JOBS" -n 3 "$0" --one <"$tasks"

runs=$(cut -d ' ' -f 3 "$tasks")
for t in clustering clustering-differences; do
	file=$OUT/tables/$name${t#clustering}
	for f in text:txt markdown:md latex:tex csv:csv; do
		# shellcheck disable=SC2086
		"$TERCET" report --table $t --format "${f%:*}" $runs >"$file.${f#*:}"
	done
	cat "$file.txt"
done
# shellcheck disable=SC2086
"$TERCET" report --table clustering --curves "$OUT/tables/clustering" --json $runs >"$OUT/tables/$name.json"
