#!/bin/bash
# A Slurm of one node in a folder of its own, as root, without systemd, over loopback; on
# it the array that tercet train --emit slurm prints, preempted, killed, stopped by its
# time limit and submitted again, and a run of two ranks. Its bytes must be those of
# runs that nobody stopped. Needs slurm-wlm, munge; Open MPI and MPICH for the ranks.
# Usage: TERCET=bin/tercet NATIVE=bin/tercet-native [STEPS=16000 PATIENCE=1] scripts/slurm-test.sh
set -euo pipefail
NAME=slurm-test
TERCET=$(realpath "$TERCET") NATIVE=$(realpath "$NATIVE")
# shellcheck source=scripts/slurm-node.sh
source "$(dirname "$0")/slurm-node.sh"

mkdir bin && ln -s "$TERCET" bin/tercet && ln -s "$NATIVE" bin/tercet-native
export PATH=$B/bin:$PATH
# A run takes 30 s on a fast machine: Slurm looks at time limits every 30 s. On a shared one
# fewer STEPS do.
STEPS=${STEPS:-16000}
cat >sweep.yaml <<END
name: s
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
model: {name: cnn, width: 8, embedding: 8}
batch: {sampler: class-pairs, pairs: 16}
train: {epochs: 0, steps: $STEPS, eval_every: 1000, log_every: 100, checkpoint_every: 20 steps, shards: 2}
sweep: {seed: [0, 1, 2, 3]}
END
tercet train sweep.yaml --quiet --jobs 2 --runs-dir want >/dev/null
up
tercet train sweep.yaml --quiet --threads 1 --emit slurm --task auto/4 >array.sh
shellcheck array.sh
sbatch --test-only array.sh 2>&1

echo "slurm-test: an array, preempted by another job"
sbatch -Q --output='out/a_%a' array.sh
until_true 60 in_training 2
sbatch -Q -p high -c 2 --output=out/high --wrap 'sleep 2'
until_true 60 grep -q 'the checkpoint is written' out/a_1 out/a_2
echo "slurm-test: a task killed"
until_true 60 eval 'no_waiting; in_training 2'
kill -9 "$(tercet sweep status -c sweep.yaml runs | sed -n 's/^training.*process \([0-9]*\) on.*/\1/p' | head -1)"
until_true 900 all_done
tercet sweep status -c sweep.yaml runs | tee status
array=$(sed -n 's/^submit again: --array=\([^ ]*\).*/\1/p' status)
[ -n "$array" ] || fail "nothing to submit again after a kill"
echo "slurm-test: submitted again: --array=$array"
sbatch -Q --array="$array" --output='out/b_%a' array.sh
until_true 900 all_done
tercet sweep status -c sweep.yaml runs
compare runs "array of 4, preempted, killed, submitted again"

echo "slurm-test: a time limit shorter than the runs"
rm -r runs
sbatch -Q --time=1 --signal=B:TERM@57 --output='out/t_%a' array.sh
until_true 900 all_done
grep -c 'the checkpoint is written' out/t_* || fail "no task met its limit"
compare runs "stopped by the time limit, requeued"

rm -r want
few=(sweep.yaml --quiet --threads 1 --task 1/4 --set train.steps=30)
tercet train "${few[@]}" --runs-dir want >/dev/null
for kind in pmix:libmpi.so.40 pmi2:libmpich.so.12; do
	echo "slurm-test: two ranks, srun --mpi=${kind%:*}"
	if ! why=$(srun -Q "--mpi=${kind%:*}" -n 1 true 2>&1); then
		echo "slurm-test: LEFT OUT: ${why%%$'\n'*} (apt-get install libpmix-dev)"
		left=" without ${kind%:*}"
		continue
	fi
	rm -r runs
	env TERCET_MPI="${kind#*:}" PMIX_MCA_ptl_tcp_if_include=lo OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1 FI_TCP_IFACE=lo UCX_NET_DEVICES=lo \
		srun -Q "--mpi=${kind%:*}" -n 2 --kill-on-bad-exit=1 tercet-native train "${few[@]}" --ranks mpi >/dev/null
	compare runs "two ranks, ${kind%:*}"
done
until_true 30 none_left
echo "slurm-test: passed${left-} in $SECONDS s"
