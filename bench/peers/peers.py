#!/usr/bin/env python3
"""Runs a job of `tercet bench` in PyTorch or scikit-learn, and measures it.

    python3 bench/peers/peers.py --job c2f2 --threads 2 --seconds 20 --json

Each repetition of a training job is one optimiser step; memory layout and form
of Adam are chosen by a short trial in processes of their own unless --layout
and --adam say them, so that the peak memory is that of the chosen form.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

TRAINING = ("mlp", "cnn47", "c2f2", "c2f2-hm8", "rn18", "rn18-64", "rn18-hm8")
ARRAYS = ("gemm", "knn", "kmeans", "kmeans-100")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--job", choices=TRAINING + ARRAYS, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every library")
    parser.add_argument("--seconds", type=float, default=20, help="length of the measurement")
    parser.add_argument("--least", type=int, default=3, help="least number of timed steps of a training job")
    parser.add_argument("--layout", choices=("contiguous", "channels_last"), help="memory layout of images and weights")
    parser.add_argument("--adam", choices=("loop", "foreach"), help="form of Adam")
    parser.add_argument("--quick", action="store_true", help="knn on 20,000 rows")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    if args.threads < 1:
        parser.error("--threads must be at least 1")
    machine.prepare(args.threads)  # before torch and numpy are loaded
    result = {"schema": "tercet.peer/1", "job": args.job, "threads": args.threads}
    result.update(train(args) if args.job in TRAINING else arrays(args))
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
    tried = {}
    if args.layout is None or args.adam is None:
        tried = trials(args)
        best = min(tried, key=tried.get)
        layout, form = best
    else:
        layout, form = args.layout, args.adam
    import training

    out = training.measure(args.job, args.threads, args.seconds, args.least, layout, form)
    if tried:
        out["tried_seconds"] = {f"{layout} {form}": t for (layout, form), t in tried.items()}
    return out


def trials(args):
    """Best seconds of a step, by (layout, form of Adam), of what is left open."""
    layouts = [args.layout] if args.layout else ["contiguous", "channels_last"]
    forms = [args.adam] if args.adam else ["loop", "foreach"]
    if args.job == "mlp":
        layouts = layouts[:1]  # it has no images to lay out
    tried = {}
    for layout in layouts:
        tried[layout, forms[0]] = trial(args, layout, forms[0])
    layout = min(tried, key=tried.get)[0]
    for form in forms[1:]:
        tried[layout, form] = trial(args, layout, form)
    return tried


def trial(args, layout, form):
    command = [sys.executable, os.path.abspath(__file__), "--job", args.job, "--threads", str(args.threads),
               "--seconds", str(args.seconds / 4), "--least", "1", "--layout", layout, "--adam", form, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["seconds_best"]


def arrays(args):
    import arrays as jobs

    return jobs.JOBS[args.job](args.threads, args.seconds, args.quick)


def show(r):
    rate = f", {r['images_per_s']:,.0f} images/s" if "images_per_s" in r else ""
    speed = f", {r['gflops']:.0f} GFLOP/s" if "gflops" in r else ""
    form = f" ({r['layout']}, Adam {r['adam']})" if "layout" in r else ""
    print(f"{r['job']}{form}, {r['threads']} thread(s): median {r['seconds']:.4g} s, best {r['seconds_best']:.4g} s{rate}{speed}, peak {r['peak_rss_kb'] / 1024:.0f} MiB")
    for part in r.get("parts", []):
        print(f"  {part['name']:<20} {part['gflops']:8.1f} GFLOP/s, best {part['gflops_best']:.1f}")


if __name__ == "__main__":
    main()
