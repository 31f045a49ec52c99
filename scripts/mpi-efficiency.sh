#!/bin/bash
# Steps of 2 ranks with 1 thread each against 1 process with 2 threads, interleaved, and what
# two shards cost one process. Each figure is the time from the third logged step to the last,
# so that start and data are left out. Traffic and the share of time in calls are rank 0's of
# the whole command. For a quiet machine of at least 2 cores; JOBS names some of the networks.
# Usage: NATIVE=bin/tercet-native [TIMES=5] [SCALE=1] [JOBS="c2f2 rn18-64"] [MPIRUN="mpirun ..."] scripts/mpi-efficiency.sh
set -euo pipefail
NATIVE=$(realpath "$NATIVE")
TIMES=${TIMES:-5} SCALE=${SCALE:-1} JOBS=${JOBS:-c2f2 rn18-64 rn18-224 rn18-hm8}
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
{ cat rn18-224.yaml; echo 'defense: {name: hm, pgd: {steps: 8}}'; } >rn18-hm8.yaml

# timed STEPS SHARDS THREADS COMMAND...: seconds of a step, and CPU seconds of the command.
timed() {
	local steps=$1 shards=$2 threads=$3 config=$4
	shift 4
	rm -rf runs
	local TIMEFORMAT='%U %S'
	{ time "$@" "$NATIVE" train "$config.yaml" --threads "$threads" --runs-dir runs --set "train.shards=$shards" --set train.epochs=0 \
		--set "train.steps=$steps" --set train.eval_every=0 --set train.log_every=1 ${RANKS:+--ranks mpi} >out 2>&1; } 2>cpu || { cat out >&2; exit 1; }
	/usr/bin/python3 - "$steps" <<'END'
import json, re, sys
at = {}
for line in open("runs/run/events.jsonl"):
    e = json.loads(line)
    if e["event"] == "step": at[e["step"]] = e["seconds"]
first, last = min(at) + 2, max(at)
user, system = map(float, open("cpu").read().split()[-2:])
said = re.search(r"exchanged ([0-9.]+) (\w+) in (\d+) calls?, ([0-9.]+) s of ([0-9.]+) s; ([0-9.]+) s", open("out").read())
sent, calls, share, wait = 0, 0, 0, 0
if said:
    unit = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[said[2]]
    sent, calls, share, wait = float(said[1]) * unit / 1e6 / last, int(said[3]) / last, 100 * float(said[4]) / float(said[5]), 100 * float(said[6]) / float(said[5])
print((at[last] - at[first]) / (last - first), user + system, sent, calls, share, wait)
END
}
median() { cut -d' ' -f"$2" "$1" | sort -g | sed -n "$(((TIMES + 1) / 2))p"; } # FILE COLUMN

echo "| network | rows | one process, 2 threads | 2 ranks of 1 thread | ratio | aim | CPU of 2 shards against 1 | sent by a rank, per step | calls | time in calls | of it waiting |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for job in "c2f2 128 200 0.70" "rn18-64 32 20 0.80" "rn18-224 16 6 0.95" "rn18-hm8 16 5 0.97"; do
	read -r config rows steps aim <<<"$job"
	case " $JOBS " in *" $config "*) ;; *) continue ;; esac
	steps=$(/usr/bin/python3 -c "print(max(5, round($steps * $SCALE)))")
	rm -f one two flat
	for _ in $(seq "$TIMES"); do
		timed "$steps" 2 2 "$config" env >>one
		# shellcheck disable=SC2086
		RANKS=2 timed "$steps" 2 1 "$config" $MPIRUN -n 2 >>two
		timed "$steps" 1 2 "$config" env >>flat
	done
	awk -v c="$config" -v r="$rows" -v a="$(median one 1)" -v b="$(median two 1)" -v aim="$aim" -v s="$(median one 2)" -v f="$(median flat 2)" \
		-v mb="$(median two 3)" -v calls="$(median two 4)" -v share="$(median two 5)" -v wait="$(median two 6)" \
		'BEGIN { printf "| %s | %d | %.1f ms | %.1f ms | %.2f | %s | %+.1f %% | %.1f MB | %.0f | %.0f %% | %.0f %% |\n", c, r, 1000*a, 1000*b, a/b, aim, 100*(s/f-1), mb, calls, share, wait }'
done
echo "medians of $TIMES, interleaved; load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
