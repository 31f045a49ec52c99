#!/usr/bin/env bash
# Proves that a killed run, resumed, ends as if nothing had happened.
#
# Trains a config undisturbed, then with --threads 1 and again with --threads 2
# kills it by SIGKILL at random moments and resumes it each time. The checkpoints
# of all of them must be the same bytes. Exit status 1 if they are not.
#
#   scripts/kill-test.sh [CONFIG]       default configs/kill-test.yaml
#
# Environment: TERCET (the program, default bin/tercet), KILLS (default 10), SEED
# of the moments (default: the clock; it is printed), KEEP=1 keeps the runs.
set -euo pipefail

config=${1:-configs/kill-test.yaml}
tercet=${TERCET:-bin/tercet}
kills=${KILLS:-10}
seed=${SEED:-$(($(date +%s) % 32768))}
RANDOM=$seed

work=$(mktemp -d "${TMPDIR:-/tmp}/tercet-kill.XXXXXX")
child=
finish() {
  [ -z "$child" ] || kill -9 "$child" 2>/dev/null || true
  if [ -n "${KEEP:-}" ]; then echo "runs kept in $work"; else rm -rf "$work"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

now() { date +%s%N; } # nanoseconds

# step DIR prints the last step that the run's log knows.
step() { grep -o '"step":[0-9]*' "$1/events.jsonl" 2>/dev/null | tail -n 1 | cut -d: -f2 || true; }

# sums DIR prints the checksums of the two checkpoints.
sums() { (cd "$1/checkpoints" && sha256sum last.safetensors best.safetensors); }

# begin OUT THREADS starts or resumes the run below OUT in the background.
begin() {
  local dir
  dir=$(find "$1" -mindepth 2 -maxdepth 2 -name config.yaml -printf '%h\n' 2>/dev/null)
  if [ -n "$dir" ]; then
    "$tercet" train --quiet --threads "$2" --resume "$dir" >>"$1/log" 2>&1 &
  else
    "$tercet" train --quiet --threads "$2" --config "$config" --out "$1" >>"$1/log" 2>&1 &
  fi
  child=$!
}

# complete OUT waits for the run to end by itself.
complete() {
  local status=0
  wait "$child" || status=$?
  child=
  if [ $status -ne 0 ]; then
    echo "FAIL: the run ended with exit code $status:" >&2
    tail -n 5 "$1/log" >&2
    exit 1
  fi
}

mkdir "$work/undisturbed"
start=$(now)
begin "$work/undisturbed" 1
complete "$work/undisturbed"
took=$(($(now) - start))
dir=$(dirname "$(find "$work/undisturbed" -name config.yaml)")
name=$(basename "$dir")
last=$(step "$dir")
want=$(sums "$dir")
echo "seed $seed; undisturbed, 1 thread: $last steps in $((took / 1000000)) ms"
echo "$want"

failed=0
for threads in 1 2; do
  done=0
  round=0
  while [ $done -lt "$kills" ]; do
    round=$((round + 1))
    out=$work/threads-$threads-$round
    mkdir "$out"
    while [ $done -lt "$kills" ]; do
      # Up to a fifth of the run, so that ten kills reach all parts of it.
      begin "$out" "$threads"
      delay=$((took / 5 * RANDOM / 32768))
      sleep "$(printf '%d.%09d' $((delay / 1000000000)) $((delay % 1000000000)))"
      status=0
      kill -9 "$child" 2>/dev/null || true
      wait "$child" 2>/dev/null || status=$?
      child=
      if [ $status -ne 137 ]; then
        break # it had ended by itself: look at it, then kill another one
      fi
      done=$((done + 1))
      at=$(step "$out/$name")
      echo "$threads thread(s), kill $done after $((delay / 1000000)) ms: at step ${at:-0} of $last"
    done
    begin "$out" "$threads"
    complete "$out"
    got=$(sums "$out/$name")
    left=$(find "$out/$name" -name '.*.tmp-*')
    if [ "$got" = "$want" ] && [ -z "$left" ]; then
      echo "$threads thread(s): same bytes after the kills, nothing left behind"
    else
      echo "FAIL: $threads thread(s):" >&2
      printf '%s\n' "$got" $left >&2
      failed=1
    fi
  done
done
exit $failed
