#!/usr/bin/env python3
"""Profiles the jobs of `tercet bench` on one thread and prints, for each, where
the time goes, as the table of docs/performance.md.

    python3 bench/profile.py bin/tercet mlp c2f2

The program must have its symbols: build it without -ldflags -s.
"""

import re
import subprocess
import sys
import tempfile

JOBS = ("mlp", "cnn47", "c2f2", "c2f2-hm8", "rn18", "rn18-64", "rn18-hm8", "knn", "kmeans", "kmeans-100")

# The first pattern that matches the end of a function's name.
GROUPS = (
    ("products", r"tile\d+\w*|product\w*|byteTile\w*|dots?(32|AVX\w*)|fewJob\W.*"),
    ("Winograd's transforms", r"[wW]inograd.*"),
    ("batch norm, ReLU and sums", r"normalize\w*|column\w*|(\(\*columnJob\).*)|relu\w*|add(AVX|ReLU)\w*|AddColumnSums"),
    ("pooling", r"maxWindows\w*|\(\*[pP]ool\w*\).*"),
    ("optimiser", r"adamStep\w*|.*optim\..*"),
    ("choosing and counting", r"(add|subtract|shift)Row\w*|nearer\w*|leastKeys\w*|squares\w*|.*(cluster|metric)\..*|topk\w*|below\w*|above\w*"),
    ("turning, padding and copying", r"transpose\w*|memmove|memclr\w*|.*(pad|pack|turn)(Run)?|interleave\w*|gather\w*"),
)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, jobs = sys.argv[1], sys.argv[2:] or JOBS
    names = [name for name, _ in GROUPS] + ["rest"]
    print("| job | " + " | ".join(names) + " |")
    print("| --- |" + " ---: |" * len(names))
    for job in jobs:
        shares = profile(program, job)
        cells = [f"{100 * shares[n]:.0f} %" if shares[n] >= 0.005 else "" for n in names]
        print(f"| `{job}` | " + " | ".join(cells) + " |", flush=True)


def profile(program, job):
    """Shares of the samples inside the job's repetitions, by group."""
    with tempfile.NamedTemporaryFile(suffix=".prof") as f:
        subprocess.run([program, "bench", "--quiet", "--threads", "1", "--seconds", "5", "--job", job,
                        "--cpuprofile", f.name], check=True, stdout=subprocess.DEVNULL)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-nodecount=10000", "-nodefraction=0", "-unit=ms",
                              "-focus", r"bench\.\(\*task\)\.measure", "-ignore", r"bench\.(normal|classes)$", program, f.name],
                             check=True, capture_output=True, text=True).stdout
    shares = dict.fromkeys([name for name, _ in GROUPS] + ["rest"], 0.0)
    for line in top.splitlines():
        m = re.match(r"\s*([\d.]+)(?:ms)?\s+[\d.]+%\s+[\d.]+%\s+[\d.]+(?:ms)?\s+[\d.]+%\s+(\S+)", line)
        if m and float(m[1]) > 0:
            shares[group(m[2])] += float(m[1])
    total = sum(shares.values())
    return {name: v / total for name, v in shares.items()}


def group(function):
    short = re.sub(r"^tercet/internal/engine/kernel\.|^runtime\.", "", function)
    return next((name for name, pattern in GROUPS if re.fullmatch(pattern, short)), "rest")


if __name__ == "__main__":
    main()
