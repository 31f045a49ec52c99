#!/bin/bash
# Steps of 2 ranks with 1 thread each against 1 process with 2 threads, interleaved, and what
# two shards cost one process. Each figure is the time from the first logged step to the last,
# so that start and data are left out. For a quiet machine of at least 2 cores.
# Usage: NATIVE=bin/tercet-native [TIMES=5] [SCALE=1] [MPIRUN="mpirun ..."] scripts/mpi-efficiency.sh
set -euo pipefail
NATIVE=$(realpath "$NATIVE")
TIMES=${TIMES:-5} SCALE=${SCALE:-1}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
MPIRUN=${MPIRUN:-mpirun.openmpi --oversubscribe --bind-to none --mca btl self,vader --mca pml ob1 --mca oob_tcp_if_include lo}
B=$(mktemp -d /tmp/mpi-efficiency.XXXXXX)
trap 'rm -rf "$B"' EXIT
cd "$B"
data() { echo "data: {name: glyphs, size: $1, glyphs: {classes: 20, per_class: 12, test_classes: 4}}"; }
cat >c2f2.yaml <<END
name: run
$(data 28)
model: {name: c2f2, embedding: 512}
batch: {sampler: class-pairs, pairs: 64}
END
cat >rn18-64.yaml <<END
name: run
$(data 64)
model: {name: resnet18, embedding: 128}
batch: {sampler: class-pairs, pairs: 16}
END
sed 's/size: 64/size: 224/; s/pairs: 16}/pairs: 8}/' rn18-64.yaml >rn18-224.yaml
{ cat rn18-64.yaml; echo 'defense: {name: hm, pgd: {steps: 8}}'; } >rn18-hm8.yaml

# timed STEPS SHARDS THREADS COMMAND...: seconds of a step, and CPU seconds of the command.
timed() {
	local steps=$1 shards=$2 threads=$3 config=$4
	shift 4
	rm -rf runs
	local TIMEFORMAT='%U %S'
	{ time "$@" "$NATIVE" train "$config.yaml" --quiet --threads "$threads" --runs-dir runs --set "train.shards=$shards" --set train.epochs=0 \
		--set "train.steps=$steps" --set train.eval_every=0 --set train.log_every=1 ${RANKS:+--ranks mpi} >out 2>&1; } 2>cpu || { cat out >&2; exit 1; }
	/usr/bin/python3 - "$steps" <<'END'
import json, sys
at = {}
for line in open("runs/run/events.jsonl"):
    e = json.loads(line)
    if e["event"] == "step": at[e["step"]] = e["seconds"]
first, last = min(at) + 2, max(at)
user, system = map(float, open("cpu").read().split()[-2:])
print((at[last] - at[first]) / (last - first), user + system)
END
}
median() { sort -g "$1" | sed -n "$(((TIMES + 1) / 2))p" | cut -d' ' -f1; }
cpu() { cut -d' ' -f2 "$1" | sort -g | sed -n "$(((TIMES + 1) / 2))p"; }

echo "| network | rows | one process, 2 threads | 2 ranks of 1 thread | ratio | aim | CPU of 2 shards against 1 |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for job in "c2f2 128 200 0.70" "rn18-64 32 20 0.80" "rn18-224 16 6 0.95" "rn18-hm8 32 6 0.97"; do
	read -r config rows steps aim <<<"$job"
	steps=$(/usr/bin/python3 -c "print(max(5, round($steps * $SCALE)))")
	rm -f one two flat
	for _ in $(seq "$TIMES"); do
		timed "$steps" 2 2 "$config" env >>one
		# shellcheck disable=SC2086
		RANKS=2 timed "$steps" 2 1 "$config" $MPIRUN -n 2 >>two
		timed "$steps" 1 2 "$config" env >>flat
	done
	awk -v c="$config" -v r="$rows" -v a="$(median one)" -v b="$(median two)" -v aim="$aim" -v s="$(cpu one)" -v f="$(cpu flat)" \
		'BEGIN { printf "| %s | %d | %.1f ms | %.1f ms | %.2f | %s | %+.1f %% |\n", c, r, 1000*a, 1000*b, a/b, aim, 100*(s/f-1) }'
done
echo "medians of $TIMES, interleaved; load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
