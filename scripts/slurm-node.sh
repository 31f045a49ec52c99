# A Slurm of one node in a folder of its own, B, as root, without systemd, over loopback: for
# the scripts that source this file, which are called by the name in NAME.
# shellcheck shell=bash
for need in slurmctld slurmd munged sbatch; do
	command -v $need >/dev/null || { echo "$NAME: $need is not there: apt-get install slurm-wlm munge"; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "$NAME: Slurm's daemons need root"; exit 1; }
B=$(mktemp -d "/tmp/$NAME.XXXXXX")
chmod 755 "$B"
cd "$B"

# here are the processes that work in this folder.
here() {
	for p in /proc/[0-9]*; do
		case $(readlink "$p/cwd" 2>/dev/null) in "$B"/*) [ "${p#/proc/}" = $$ ] || echo "${p#/proc/}" ;; esac
	done
}
stopped() { [ ! -e "$1" ] || ! kill -0 "$(cat "$1" 2>/dev/null)" 2>/dev/null; }
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
	[ -z "$left" ] || { echo "$NAME: processes are left: $left"; exit 1; }
}
fail() { echo "$NAME: $*"; tail -n 5 log/*.log out/* 2>/dev/null || true; down; exit 1; }
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

# until_true SECONDS COMMAND...: on a shared machine PATIENCE=4 waits four times as long.
until_true() {
	local end=$((SECONDS + $1 * ${PATIENCE:-1}))
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
	echo "$NAME: $2: the same bytes"
}
