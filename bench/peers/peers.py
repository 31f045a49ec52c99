#!/usr/bin/env python3
"""Runs a job of `tercet bench` in PyTorch, scikit-learn, scipy or Pillow, and measures it.

    python3 bench/peers/peers.py --job c2f2 --threads 2 --seconds 20 --json

Each repetition of a training job is one optimizer step, of an embedding job one
forward pass; memory layout, form (of Adam, or of the network that embeds) and what
threads do without work are chosen by a short trial in processes of
their own unless --layout, --form and --wait say them, so that the peak memory is
that of the chosen form.
"""

import argparse
import json
import os
import subprocess
import sys

import machine

TRAINING = ("mlp", "cnn47", "c2f2", "c2f2-hm8", "rn18", "rn18-64", "rn18-hm8", "rn50", "vits16")
EMBEDDING = ("rn50-embed", "vits16-embed")
NETWORKS = TRAINING + EMBEDDING
ARRAYS = ("gemm", "knn", "kmeans", "kmeans-100")
METRIC = ("rrm",)
FILES = ("photos",)
LOSSES = ("losses",)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--job", choices=NETWORKS + ARRAYS + METRIC + FILES + LOSSES, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of every library")
    parser.add_argument("--seconds", type=float, default=20, help="length of the measurement")
    parser.add_argument("--least", type=int, default=3, help="least number of timed steps of a job of networks")
    parser.add_argument("--layout", choices=("contiguous", "channels_last"), help="memory layout of images and weights")
    parser.add_argument("--form", choices=("loop", "foreach", "eager", "frozen", "native"),
                        help="form of Adam: loop or foreach; of the network of an embedding job: the others")
    parser.add_argument("--wait", choices=("spin", "sleep"),
                        help="what OpenMP's threads do without work; scikit-learn's sleep by default")
    parser.add_argument("--try-only", action="store_true", help="only choose --layout, --form and --wait of a job of networks")
    parser.add_argument("--quick", action="store_true", help="knn on 20,000 rows, losses of 128")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    args = parser.parse_args()
    if args.threads < 1:
        parser.error("--threads must be at least 1")
    if args.try_only and args.job not in NETWORKS:
        parser.error("--try-only is for jobs of networks")
    tried = trials(args) if args.job in NETWORKS else {}
    if tried:
        args.layout, args.form, args.wait = min(tried, key=tried.get)
    elif args.wait is None:
        args.wait = "sleep"  # scikit-learn calls OpenBLAS between its own parallel loops
    if args.try_only:
        print(json.dumps({"layout": args.layout, "form": args.form, "wait": args.wait, "tried_seconds": named(tried)}))
        return
    machine.prepare(args.threads, args.wait)  # before torch and numpy are loaded
    result = {"schema": "tercet.peer/1", "job": args.job, "threads": args.threads}
    result.update(network(args) if args.job in NETWORKS else arrays(args))
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


def network(args):
    if args.job in TRAINING:
        import training as jobs
    else:
        import embed as jobs

    return jobs.measure(args.job, args.threads, args.seconds, args.least, args.layout, args.form)


def forms(job):
    """Those to try, the plain one first."""
    if job in TRAINING:
        return ["loop", "foreach"]
    return ["eager", "frozen"] + ["native"] * job.startswith("vit")


def trials(args):
    """Best seconds of a step, by (layout, form, wait), of what is left
    open; empty where nothing is."""
    options = [
        [args.layout] if args.layout else ["contiguous", "channels_last"],
        [args.form] if args.form else forms(args.job),
        [args.wait] if args.wait else ["spin", "sleep"],
    ]
    if args.job == "mlp" or args.job.startswith("vit"):
        options[0] = options[0][:1]  # the one reads no images, the other only once
    if args.threads == 1:
        options[2] = options[2][:1]  # nobody waits
    best = tuple(values[0] for values in options)
    if all(len(values) == 1 for values in options):
        args.layout, args.form, args.wait = best
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
               "--seconds", str(args.seconds / 4), "--least", "2", "--layout", layout, "--form", form,
               "--wait", wait, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["seconds_best"]


def arrays(args):
    if args.job in METRIC:
        import metric as jobs
    elif args.job in FILES:
        import photos as jobs
    elif args.job in LOSSES:
        import losses as jobs
    else:
        import arrays as jobs

    return jobs.JOBS[args.job](args.threads, args.seconds, args.quick)


def show(r):
    rate = f", {r['images_per_s']:,.0f} images/s" if "images_per_s" in r else ""
    speed = f", {r['gflops']:.0f} GFLOP/s" if "gflops" in r else ""
    form = f" ({r['layout']}, {r['form']}, threads {r['wait']})" if "layout" in r else ""
    print(f"{r['job']}{form}, {r['threads']} thread(s): median {r['seconds']:.4g} s, best {r['seconds_best']:.4g} s{rate}{speed}, peak {r['peak_rss_kb'] / 1024:.0f} MiB")
    for part in r.get("parts", []):
        if "gflops" in part:
            print(f"  {part['name']:<20} {part['gflops']:8.1f} GFLOP/s, best {part['gflops_best']:.1f}")
        else:
            print(f"  {part['name']:<20} {part['seconds']:8.4g} s, best {part['seconds_best']:.4g}")


if __name__ == "__main__":
    main()
