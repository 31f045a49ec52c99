#!/bin/bash
# The scripts that tercet train --emit prints for make, GNU parallel and Snakemake, run for real with
# three tiny runs, interrupted once and run again: the bytes of one process.
# Usage: TERCET=bin/tercet scripts/emit-test.sh
set -euo pipefail
for need in make parallel snakemake; do
	command -v $need >/dev/null || { echo "emit-test: $need is not there"; exit 1; }
done
TERCET=$(realpath "$TERCET")
B=$(mktemp -d /tmp/emit-test.XXXXXX)
trap 'rm -rf "$B"' EXIT
cd "$B"
mkdir bin && ln -s "$TERCET" bin/tercet
export PATH=$B/bin:$PATH
cat >"my sweep.yaml" <<'END'
name: s
data: {name: glyphs, size: 12, glyphs: {classes: 4, per_class: 4, test_classes: 2}}
model: {name: mlp, width: 4, embedding: 2}
batch: {sampler: class-pairs, pairs: 2}
train: {steps: 400, epochs: 0, eval_every: 0, checkpoint_every: 20 steps}
sweep: {seed: [0, 1, 2]}
END
tercet train "my sweep.yaml" --quiet --runs-dir want >/dev/null
compare() {
	for c in want/*/checkpoints/last.safetensors; do cmp "$c" "my runs/${c#want/}" || { echo "emit-test: $1: other bytes"; exit 1; }; done
	tercet sweep status -c "my sweep.yaml" "my runs" | grep -q '^3 runs: 3 finished$' || { echo "emit-test: $1: not all runs are finished"; exit 1; }
	echo "emit-test: $1: three runs, the same bytes"
	rm -r "my runs"
}
for format in make parallel snakemake; do
	tercet train "my sweep.yaml" --quiet --threads 1 --runs-dir "my runs" --emit $format >script
	case $format in
	make) start=(make -s -k -j 2 -f script) ;;
	parallel) start=(bash script 2) ;;
	snakemake) start=(snakemake --snakefile script --keep-going --cores 2) ;;
	esac
	# Stopped as soon as a run is under way, where it is not faster; then to the end.
	setsid "${start[@]}" >out 2>&1 &
	until ls "my runs"/*/checkpoints/last.safetensors >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
	kill -TERM -- -$! 2>/dev/null || true
	wait $! || true
	"${start[@]}" >>out 2>&1 || { cat out; echo "emit-test: $format failed"; exit 1; }
	compare "$format"
done
