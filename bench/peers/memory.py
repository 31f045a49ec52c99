#!/usr/bin/env python3
"""Memory of Smooth-AP at 448 embeddings of 512 numbers: the largest resident size of a process
that evaluates value and gradient, above its size before the embeddings are made.

    python3 bench/peers/memory.py
    PYTHONPATH=CHECKOUT/src python3 bench/peers/memory.py   # also pytorch-metric-learning's own

pytorch-metric-learning's own needs a checkout that has losses/smooth_ap.py (after 2.8.1).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import machine  # noqa: E402

ROWS, DIMENSIONS = 448, 512
MIB = 1 << 20


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tercet", default="bin/tercet", help="the program")
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python with torch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--side", choices=("peer", "own"), help="measure this side in this process")
    args = parser.parse_args()
    if args.side:
        print(json.dumps(measure(args)))
        return
    print("| Smooth-AP, 448 x 512 | before, MiB | largest, MiB | difference, MiB |")
    print("| --- | ---: | ---: | ---: |")
    result = json.loads(output([args.tercet, "bench", "--quiet", "--json", "--job", "smooth-ap", "--seconds", "1",
                                "--threads", str(args.threads)]))["results"][0]
    row("Tercet", result["base_rss_bytes"], result["peak_rss_bytes"])
    for side, name in (("peer", "PyTorch, bench/peers/losses.py"), ("own", "pytorch-metric-learning")):
        command = [args.python, "-W", "ignore", __file__, "--side", side, "--threads", str(args.threads)]
        r = json.loads(output(command))
        if "missing" in r:
            print(f"{name}: {r['missing']}", file=sys.stderr)
        else:
            row(name, r["base"], r["peak"])


def measure(args):
    machine.prepare(args.threads, "spin")
    import torch

    torch.set_num_threads(args.threads)
    labels = torch.arange(ROWS) // 4
    if args.side == "peer":
        import losses

        f, _ = losses.build(torch)["smooth-ap"]
        run = lambda z: f(z, labels, [])
    else:
        try:
            from pytorch_metric_learning.losses import SmoothAPLoss
        except ImportError as e:
            return {"missing": str(e)}
        own = SmoothAPLoss(temperature=0.01)
        run = lambda z: own(z, labels)
    small = torch.randn(8, 4, requires_grad=True)
    (small @ small.T).sum().backward()  # what the first use loads
    base = status("VmRSS")
    z = torch.randn(ROWS, DIMENSIONS, requires_grad=True)
    for _ in range(3):
        z.grad = None
        run(z).backward()
    return {"base": base, "peak": status("VmHWM")}


def status(key):
    """A size of this process, in bytes."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(key + ":"))


def row(name, base, peak):
    print(f"| {name} | {base / MIB:.0f} | {peak / MIB:.0f} | {(peak - base) / MIB:.1f} |", flush=True)


def output(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    except OSError as e:
        sys.exit(f"{command[0]} cannot be run: {e.strerror} (--tercet and --python name the programs)")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
