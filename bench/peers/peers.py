#!/usr/bin/env python3
"""Runs a job of `tercet bench` in PyTorch, scikit-learn or scipy, and measures it.

    python3 bench/peers/peers.py --job c2f2 --threads 2 --seconds 20 --json

Each repetition of a training job is one optimizer step; memory layout, form of
Adam and what threads do without work are chosen by a short trial in processes of
their own unless --layout, --adam and --wait say them, so that the peak memory is
that of the chosen form.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

TRAINING = ("mlp", "cnn47", "c2f2", "c2f2-hm8", "rn18", "rn18-64", "rn18-hm8")
ARRAYS = ("gemm", "knn", "kmeans", "kmeans-100")
METRIC = ("rrm",)
FILES = ("photos",)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--job", choices=TRAINING + ARRAYS + METRIC + FILES, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every library")
    parser.add_argument("--seconds", type=float, default=20, help="length of the measurement")
    parser.add_argument("--least", type=int, default=3, help="least number of timed steps of a training job")
    parser.add_argument("--layout", choices=("contiguous", "channels_last"), help="memory layout of images and weights")
    parser.add_argument("--adam", choices=("loop", "foreach"), help="form of Adam")
    parser.add_argument("--wait", choices=("spin", "sleep"),
                        help="what OpenMP's threads do without work; scikit-learn's sleep by default")
    parser.add_argument("--try-only", action="store_true", help="only choose --layout, --adam and --wait of a training job")
    parser.add_argument("--quick", action="store_true", help="knn on 20,000 rows")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    if args.threads < 1:
        parser.error("--threads must be at least 1")
    if args.try_only and args.job not in TRAINING:
        parser.error("--try-only is for training jobs")
    tried = trials(args) if args.job in TRAINING else {}
    if tried:
        args.layout, args.adam, args.wait = min(tried, key=tried.get)
    elif args.wait is None:
        args.wait = "sleep"  # scikit-learn calls OpenBLAS between its own parallel loops
    if args.try_only:
        print(json.dumps({"layout": args.layout, "adam": args.adam, "wait": args.wait, "tried_seconds": named(tried)}))
        return
    machine.prepare(args.threads, args.wait)  # before torch and numpy are loaded
    result = {"schema": "tercet.peer/1", "job": args.job, "threads": args.threads}
    result.update(train(args) if args.job in TRAINING else arrays(args))
    result["wait"] = args.wait
    if tried:
        result["tried_seconds"] = named(tried)
    times = result.pop("times", None)
    if times is not None:
        result.update(seconds=times.median, seconds_best=times.best, seconds_mean=times.mean,
                      repetitions=len(times.seconds))
    result["cpu"] = machine.cpu_info("model name")
    result.setdefault("peak_rss_kb", machine.peak_rss_kb())
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


def train(args):
    import training

    return training.measure(args.job, args.threads, args.seconds, args.least, args.layout, args.adam)


def trials(args):
    """Best seconds of a step, by (layout, form of Adam, wait), of what is left
    open; empty where nothing is."""
    options = [
        [args.layout] if args.layout else ["contiguous", "channels_last"],
        [args.adam] if args.adam else ["loop", "foreach"],
        [args.wait] if args.wait else ["spin", "sleep"],
    ]
    if args.job == "mlp":
        options[0] = options[0][:1]  # it has no images to lay out
    if args.threads == 1:
        options[2] = options[2][:1]  # nobody waits
    best = tuple(values[0] for values in options)
    if all(len(values) == 1 for values in options):
        args.layout, args.adam, args.wait = best
        return {}
    tried = {best: trial(args, *best)}
    for i, values in enumerate(options):  # one choice after the other
        for value in values[1:]:
            other = best[:i] + (value,) + best[i + 1:]
            tried[other] = trial(args, *other)
        best = min(tried, key=tried.get)
    return tried


def named(tried):
    return {" ".join(options): t for options, t in tried.items()}


def trial(args, layout, form, wait):
    command = [sys.executable, os.path.abspath(__file__), "--job", args.job, "--threads", str(args.threads),
               "--seconds", str(args.seconds / 4), "--least", "2", "--layout", layout, "--adam", form,
               "--wait", wait, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["seconds_best"]


def arrays(args):
    if args.job in METRIC:
        import metric as jobs
    elif args.job in FILES:
        import photos as jobs
    else:
        import arrays as jobs

    return jobs.JOBS[args.job](args.threads, args.seconds, args.quick)


def show(r):
    rate = f", {r['images_per_s']:,.0f} images/s" if "images_per_s" in r else ""
    speed = f", {r['gflops']:.0f} GFLOP/s" if "gflops" in r else ""
    form = f" ({r['layout']}, Adam {r['adam']}, threads {r['wait']})" if "layout" in r else ""
    print(f"{r['job']}{form}, {r['threads']} thread(s): median {r['seconds']:.4g} s, best {r['seconds_best']:.4g} s{rate}{speed}, peak {r['peak_rss_kb'] / 1024:.0f} MiB")
    for part in r.get("parts", []):
        if "gflops" in part:
            print(f"  {part['name']:<20} {part['gflops']:8.1f} GFLOP/s, best {part['gflops_best']:.1f}")
        else:
            print(f"  {part['name']:<20} {part['seconds']:8.4g} s, best {part['seconds_best']:.4g}")


if __name__ == "__main__":
    main()
