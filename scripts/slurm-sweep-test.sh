#!/bin/bash
# A sweep of tiny runs as a Slurm array whose tasks are killed with kill -9 at random moments.
# What tercet sweep status lists is submitted again until all runs are finished: none is lost,
# none is trained twice, and their bytes are those of one process. Needs slurm-wlm, munge, root.
# Usage: TERCET=bin/tercet [RUNS=1000 TASKS=500 KILLS=100 STEPS=1000] scripts/slurm-sweep-test.sh
set -euo pipefail
NAME=slurm-sweep-test
TERCET=$(realpath "$TERCET")
RUNS=${RUNS:-1000} TASKS=${TASKS:-500} KILLS=${KILLS:-100} STEPS=${STEPS:-1000}
# shellcheck source=scripts/slurm-node.sh
source "$(dirname "$0")/slurm-node.sh"

mkdir bin && ln -s "$TERCET" bin/tercet
export PATH=$B/bin:$PATH
cat >sweep.yaml <<END
name: s
data: {name: glyphs, size: 12, glyphs: {classes: 4, per_class: 4, test_classes: 2}}
model: {name: mlp, width: 16, embedding: 4}
batch: {sampler: class-pairs, pairs: 4}
train: {epochs: 0, steps: $STEPS, eval_every: 0, log_every: 100, checkpoint_every: 20 steps}
sweep: {seed: [$(seq -s ', ' 0 $((RUNS - 1)))]}
END
tercet train sweep.yaml --quiet --jobs 2 --runs-dir want >/dev/null
up
tercet train sweep.yaml --quiet --threads 1 --emit slurm --task "auto/$TASKS" >array.sh

tasks() { # the processes of tasks: those of the program that work in this folder
	local p
	for p in $(pgrep -x tercet); do
		if [ "$(readlink "/proc/$p/cwd" 2>/dev/null)" = "$B" ]; then echo "$p"; fi
	done
}
in_run() { # the tasks that have begun a run: they hold its lock
	local p
	for p in $(tasks); do
		if readlink "/proc/$p/fd/"* 2>/dev/null | grep -q "^$B/runs/.*/lock$"; then echo "$p"; fi
	done
}
killed=0 during=0 rounds=0
one() { # kills one task at a random moment: every second one within a run
	local victim='' which=tasks
	sleep "0.$((RANDOM % 10))"
	[ $((killed % 2)) = 0 ] || which=in_run
	for _ in $(seq 50); do
		victim=$($which | shuf -n 1)
		[ -z "$victim" ] || break
		sleep 0.01
	done
	if [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null; then
		killed=$((killed + 1))
		[ $which = tasks ] || during=$((during + 1))
	fi
}
array=1-$TASKS
while [ -n "$array" ]; do
	rounds=$((rounds + 1))
	echo "$NAME: submitted: --array=$array"
	sbatch -Q --array="$array" --output=out/%a array.sh
	while ! all_done; do
		for _ in 1 2 3; do if [ "$killed" -lt "$KILLS" ]; then one; else sleep 0.2; fi; done
	done
	tercet sweep status -c sweep.yaml --tasks "$TASKS" runs >status.now || true
	mv status.now status
	head -1 status
	[ $rounds -gt 1 ] || dead=$(grep -c '^dead' status || true)
	array=$(sed -n 's/^submit again: --array=\([^ ]*\).*/\1/p' status)
	# What is finished must stay as it is.
	[ $rounds -gt 1 ] || (cd runs && for r in */; do grep -q '"event":"end"' "$r/events.jsonl" 2>/dev/null && stat -c '%n %Y %i' "$r/checkpoints/last.safetensors"; done) >first || true
done
grep -q "^$RUNS runs: $RUNS finished\$" status || fail "$(head -1 status)"
compare runs "$RUNS runs in $TASKS tasks"
for r in runs/*/; do
	[ "$(grep -c '"event":"end"' "$r/events.jsonl")" = 1 ] || fail "$r was trained twice"
done
[ -s first ] || fail "no run was finished after the first round"
(cd runs && cut -d' ' -f1 ../first | xargs stat -c '%n %Y %i') | cmp first - || fail "a finished run was written again"
[ "$dead" -gt 0 ] || fail "no run was cut off: all kills came before one had begun"
[ "$killed" -ge "$KILLS" ] || fail "$killed tasks killed of $KILLS: the runs are too short"
echo "$NAME: passed: $RUNS runs, $TASKS tasks, $killed killed ($during within a run, $dead runs cut off), $rounds submissions, $SECONDS s"
