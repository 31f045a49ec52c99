#!/bin/bash
# A Slurm of one node in a folder of its own, as root, without systemd, over loopback; on
# it the array that tercet train --emit slurm prints, preempted, killed, stopped by its
# time limit and submitted again, and a run of two ranks. Its bytes must be those of
# runs that nobody stopped. Needs slurm-wlm, munge; Open MPI and MPICH for the ranks.
# Usage: TERCET=bin/tercet NATIVE=bin/tercet-native scripts/slurm-test.sh
set -euo pipefail
for need in slurmctld slurmd munged sbatch; do
	command -v $need >/dev/null || { echo "slurm-test: $need is not there: apt-get install slurm-wlm munge"; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "slurm-test: Slurm's daemons need root"; exit 1; }
TERCET=$(realpath "$TERCET") NATIVE=$(realpath "$NATIVE")
B=$(mktemp -d /tmp/slurm-test.XXXXXX)
chmod 755 "$B"
cd "$B"

# here are the processes that work in this folder.
here() {
	for p in /proc/[0-9]*; do
		case $(readlink "$p/cwd" 2>/dev/null) in "$B"/*) [ "${p#/proc/}" = $$ ] || echo "${p#/proc/}" ;; esac
	done
}
stopped() { [ ! -e "$1" ] || ! kill -0 "$(cat "$1")" 2>/dev/null; }
down() {
	trap - EXIT ERR
	set +e
	scancel --user root 2>/dev/null
	for _ in $(seq 75); do [ -z "$(squeue -h -t R,CG -o %i 2>/dev/null)" ] && break; sleep 0.2; done
	for d in slurmd slurmctld munged; do
		[ -f "run/$d.pid" ] && kill "$(cat "run/$d.pid")"
		for _ in $(seq 50); do stopped "run/$d.pid" && break; sleep 0.2; done
	done
	left=$(here)
	cd / && rm -rf "$B"
	[ -z "$left" ] || { echo "slurm-test: processes are left: $left"; exit 1; }
}
fail() { echo "slurm-test: $*"; tail -n 5 log/*.log out/* 2>/dev/null || true; down; exit 1; }
trap 'fail "line $LINENO"' ERR
trap down EXIT

up() {
	mkdir -p etc spool/d spool/ctld log run munge out
	chmod 755 munge
	dd if=/dev/urandom bs=1 count=1024 of=etc/munge.key 2>/dev/null
	chmod 400 etc/munge.key
	export SLURM_CONF=$B/etc/slurm.conf
	cat >"$SLURM_CONF" <<END
ClusterName=one
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$B/munge/munge.socket
CredType=cred/munge
SlurmctldPort=26817
SlurmdPort=26818
SlurmctldPidFile=$B/run/slurmctld.pid
SlurmdPidFile=$B/run/slurmd.pid
StateSaveLocation=$B/spool/ctld
SlurmdSpoolDir=$B/spool/d
SlurmctldLogFile=$B/log/slurmctld.log
SlurmdLogFile=$B/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
RequeueExit=130
KillWait=5
CommunicationParameters=NoAddrCache
NodeName=localhost NodeAddr=127.0.0.1 NodeHostname=$(hostname -s) CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=2 State=UP
PartitionName=high Nodes=ALL Default=NO PriorityTier=10 PreemptMode=OFF State=UP
END
	munged --key-file="$B/etc/munge.key" --socket="$B/munge/munge.socket" --pid-file="$B/run/munged.pid" \
		--log-file="$B/log/munged.log" --seed-file="$B/run/munged.seed" --force 2>/dev/null
	slurmctld -c
	slurmd -N localhost
	until_true 30 idle
}
idle() { sinfo -h -o %T 2>/dev/null | grep -q idle; }

# until_true SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do [ $SECONDS -lt $end ] || fail "waited in vain for: $*"; sleep 0.2; done
}
none_left() { [ -z "$(squeue -h -o %i)" ]; }
# A requeued job waits two minutes, which is Slurm's rule; here it need not.
no_waiting() {
	squeue -h -t PD -r -o '%i %r' | while read -r id why; do
		[ "$why" != BeginTime ] || scontrol update "JobId=$id" StartTime=now 2>/dev/null || true
	done
}
all_done() { no_waiting; none_left; }
in_training() { [ "$(tercet sweep status -c sweep.yaml runs | grep -c '^training')" -ge "$1" ] && ls runs/*/checkpoints/last.safetensors >/dev/null 2>&1; }
compare() { # FOLDER: each checkpoint is that of the run that nobody stopped
	for c in want/*/checkpoints/last.safetensors; do cmp "$c" "$1/${c#want/}" || fail "$1: other bytes"; done
	echo "slurm-test: $2: the same bytes"
}

mkdir bin && ln -s "$TERCET" bin/tercet && ln -s "$NATIVE" bin/tercet-native
export PATH=$B/bin:$PATH
# A run takes 30 s on a fast machine: Slurm looks at time limits every 30 s.
cat >sweep.yaml <<'END'
name: s
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
model: {name: cnn, width: 8, embedding: 8}
batch: {sampler: class-pairs, pairs: 16}
train: {epochs: 0, steps: 16000, eval_every: 1000, log_every: 100, checkpoint_every: 20 steps, shards: 2}
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
