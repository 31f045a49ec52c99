#!/usr/bin/env python3
"""Runs the jobs of `tercet bench` interleaved with their peers, and prints ratios.

    python3 bench/peers/compare.py --seconds 80 --out bench/results

Each measurement is a process of its own. For each job, rounds of peer and
Tercet with each number of threads follow one another until the job's time is
used up; the order of the two changes from round to round, so that what else the
machine does hits both. On each side the better number of threads counts.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import machine  # noqa: E402
import peers  # noqa: E402

JOBS = ("gemm",) + peers.NETWORKS + ("knn", "kmeans", "kmeans-100") + peers.METRIC + peers.FILES + peers.LOSSES
MOST_ROUNDS = 4
START_UP = 2.0  # seconds of a process outside its measurement, about


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=80, help="time for each job; a slow one gets one round at least")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS, metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads, the better one counts")
    parser.add_argument("--tercet", default="bin/tercet", help="the program")
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python with torch, numpy and scikit-learn")
    parser.add_argument("--keep-memory", action="store_true",
                        help="tell glibc to keep the memory that PyTorch frees, which few users do; it is faster and larger then")
    parser.add_argument("--quick", action="store_true", help="knn on 20,000 rows; k-means is left out")
    parser.add_argument("--out", default="bench/results", help="folder of latest.json and latest.md")
    args = parser.parse_args()
    jobs = [j for j in args.jobs if not (args.quick and j.startswith("kmeans"))]
    if not jobs:
        parser.error("--quick leaves k-means out: no job is left")
    if args.seconds <= 0 or min(args.threads) < 1:
        parser.error("--seconds must be above 0, --threads at least 1")
    require(args.python, jobs)
    document = {
        "schema": "tercet.peers/1",
        "date": datetime.date.today().isoformat(),
        "cpu": machine.cpu_info("model name"),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "keep_memory": args.keep_memory,
        "tercet": json.loads(output([args.tercet, "version", "--json"])),
        "jobs": {},
    }
    started = time.monotonic()
    for job in jobs:
        note(f"{job}, {time.monotonic() - started:.0f} s so far")
        document["jobs"][job] = compare(args, job)
    document["seconds"] = round(time.monotonic() - started)
    text = markdown(document)
    write(pathlib.Path(args.out), document, text)
    print(text)


def require(python, jobs):
    """Ends the program where a module that the jobs need is missing."""
    modules = {"torch" if j in peers.NETWORKS + peers.LOSSES else "numpy" if j == "gemm" else "scipy" if j in peers.METRIC else "PIL" if j in peers.FILES else "sklearn" for j in jobs}
    for module in sorted(modules):
        output([python, "-c", f"import {module}"],
               hint=f"needs {module}: on Debian, apt install python3-{module}; or name another Python with --python")


def compare(args, job):
    """All runs of one job: {"runs": [...]}."""
    end = time.monotonic() + args.seconds
    shares = 2 * len(args.threads)
    each = max(1.0, args.seconds / (3 * shares) - START_UP)
    choices = {}
    if job in peers.NETWORKS:
        for threads in args.threads:
            r = peer(args, job, threads, each / 2, ["--try-only"])
            choices[threads] = ["--layout", r["layout"], "--form", r["form"], "--wait", r["wait"]]
            note(f"  peer, {threads} thread(s): {r['layout']}, {r['form']}, threads {r['wait']}")
    runs, longest = [], 0.0
    for rounds in range(MOST_ROUNDS):
        begun = time.monotonic()
        if rounds > 0 and begun + longest > end:
            break
        for threads in args.threads:
            sides = [lambda: peer(args, job, threads, each, choices.get(threads, [])),
                     lambda: tercet(args, job, threads, each)]
            for side in (sides if rounds % 2 == 0 else reversed(sides)):
                r = side()
                r["round"] = rounds
                runs.append(r)
                note(f"  {r['side']}, {threads} thread(s): {r['seconds']:.4g} s, best {r['seconds_best']:.4g} s")
        longest = max(longest, time.monotonic() - begun)
    return {"runs": runs}


def peer(args, job, threads, seconds, options=()):
    command = [args.python, str(HERE / "peers.py"), "--job", job, "--threads", str(threads),
               "--seconds", str(seconds), "--json", *options]
    if args.quick:
        command.append("--quick")
    r = json.loads(output(command, KEEP_MEMORY if args.keep_memory else None))
    r["side"] = "peer"
    return r


def tercet(args, job, threads, seconds):
    command = [args.tercet, "bench", "--quiet", "--json", "--job", job, "--threads", str(threads),
               "--seconds", str(seconds)]
    if args.quick:
        command.append("--quick")
    document = json.loads(output(command))
    r = document["results"][0]
    r["side"] = "tercet"
    r["peak_rss_kb"] = r.get("peak_rss_bytes", 0) / 1024
    r["machine"] = document["machine"]
    return r


# glibc maps blocks above 32 MiB anew each time, and the system clears their pages.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(8 << 30), "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}


def output(command, environment=None, hint=""):
    """What the command prints; where it fails the program ends with its error."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **(environment or {})})
    except OSError as e:
        sys.exit(f"{command[0]} cannot be run: {e.strerror} (--tercet and --python name the programs; make build makes bin/tercet)")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}{hint}")
    return done.stdout


def note(text):
    print(text, file=sys.stderr, flush=True)


class Side:
    """The runs of one side of a job (or of one part of it) that count: those
    with the better number of threads by the median."""

    def __init__(self, runs, part=None):
        by_threads = {}
        for r in runs:
            p = r if part is None else next(p for p in r["parts"] if p["name"] == part)
            by_threads.setdefault(r["threads"], []).append((r, p))
        speed = {n: statistics.median(rate(p) for _, p in list_) for n, list_ in by_threads.items()}
        self.threads = max(speed, key=speed.get)
        self.median = speed[self.threads]
        self.best = max(rate(p, "_best") for _, p in by_threads[self.threads])
        self.memory = max(r["peak_rss_kb"] for r, _ in by_threads[self.threads]) / 1024
        shares = [p["peak_share"] for _, p in by_threads[self.threads] if "peak_share" in p]
        self.share = max(shares) if shares else None


def rate(r, suffix=""):
    """Images, 10^9 operations, or repetitions a second."""
    for key in ("images_per_s", "gflops"):
        if r.get(key + suffix):
            return r[key + suffix]
    return 1 / r["seconds" + suffix]


def markdown(document):
    versions, kernels, peaks, copies, products, fits = {}, set(), {}, {}, [], []
    table = ["| job | Tercet | threads | peer | threads | ratio | ratio of the best | share of the peak | memory, MiB | peer |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for job, result in document["jobs"].items():
        ours = [r for r in result["runs"] if r["side"] == "tercet"]
        theirs = [r for r in result["runs"] if r["side"] == "peer"]
        for r in theirs:
            versions.update(r["versions"])
        for r in ours:
            kernels.add(r["machine"]["kernel"])
            for p in r["machine"]["peak"]:
                peaks[p["threads"]] = max(peaks.get(p["threads"], 0), p["gflops"])
            for p in r["machine"]["copy"]:
                copies[p["threads"]] = max(copies.get(p["threads"], 0), p["gb_per_s"])
        if job == "gemm":
            products = gemm_table(ours, theirs)
            continue
        if job in peers.METRIC:
            # The peer's sums over the triplets of more points would take an hour.
            for part in (p["name"] for p in theirs[0]["parts"]):
                table.append(row(f"{job} {part}, fits/s", Side(ours, part), Side(theirs, part)))
            fits.append(f"{job}: evaluations and distance to the minimizer, Tercet {reached(ours)}; peer {reached(theirs)}.")
            continue
        if job in peers.LOSSES:
            for part in (p["name"] for p in theirs[0]["parts"]):
                table.append(row(f"{job} {part}, evaluations/s", Side(ours, part), Side(theirs, part)))
            continue
        if all("inertia" in r for r in result["runs"]):
            fits.append(f"{job}, means of all fits: Tercet {fit(ours)}; peer {fit(theirs)}.")
        unit = "images/s" if job in peers.NETWORKS + peers.FILES else "rows/s"
        table.append(row(f"{job}, {unit}", Side(ours), Side(theirs)))
    if len(table) == 2:
        table = []
    kept = " glibc was told to keep the memory that the peers free." if document["keep_memory"] else ""
    lines = [
        f"{document['date']}, {document['cpu']}, {document['processors']} processors,"
        f" load average {document['load_average']:.2f} before the start, {document['seconds']} s.",
        f"Tercet {document['tercet']['version']} ({document['tercet']['go']}), kernel {' and '.join(sorted(kernels))};"
        f" {', '.join(f'{k} {v}' for k, v in versions.items())}.{kept}",
        "Peak of multiply-adds: " + ", ".join(f"{v:.0f} GFLOP/s with {n} thread(s)" for n, v in sorted(peaks.items()))
        + "; copy: " + ", ".join(f"{v:.0f} GB/s with {n}" for n, v in sorted(copies.items())) + ".",
        "",
        *table,
        *([""] if table else []),
        *products,
        *([""] if products else []),
        *fits,
        *([""] if fits else []),
        "Rates are medians over rounds of each process's median; the share of the peak is that of the best repetition"
        " (Winograd layers by their own multiplications); memory is the process's largest resident size.",
    ]
    return "\n".join(lines)


def fit(runs):
    """What fits of k-means found: means over all of them, whose starts differ."""
    iterations = statistics.fmean(i for r in runs for i in r["iterations_of_best_start"])
    inertia = statistics.fmean(i for r in runs for i in r["inertia"])
    return f"{iterations:.1f} iterations of the best start, inertia {inertia:,.0f}"


def reached(runs):
    """What minimizations of the first part took and came to, at most."""
    return f"{max(r['evaluations'][0] for r in runs)} and {max(r['certificates'][0] for r in runs):.1g}"


def gemm_table(ours, theirs):
    """Products in GFLOP/s, Tercet's and OpenBLAS's, for each number of threads."""
    counts = sorted({r["threads"] for r in ours})
    head, rule, lines = ["product"], ["---"], []
    for n in counts:
        head += [f"Tercet, {n} thread(s)", "OpenBLAS", "ratio", "ratio of the best", "share of the peak"]
        rule += ["---:"] * 5
    known = {p["name"] for p in theirs[0]["parts"]}
    for part in ours[0]["parts"]:
        if part["name"] not in known:
            continue
        cells = [part["name"]]
        for n in counts:
            a, b = (Side([r for r in runs if r["threads"] == n], part["name"]) for runs in (ours, theirs))
            cells += [number(a.median), number(b.median), f"{a.median / b.median:.2f}", f"{a.best / b.best:.2f}", percent(a.share)]
        lines.append(cells)
    return [line(head), line(rule), *map(line, lines)]


def row(name, ours, theirs):
    return line((name, number(ours.median), ours.threads, number(theirs.median), theirs.threads,
                 f"**{ours.median / theirs.median:.2f}**", f"{ours.best / theirs.best:.2f}", percent(ours.share),
                 f"{ours.memory:,.0f}", f"{theirs.memory:,.0f}"))


def line(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def percent(share):
    return f"{100 * share:.0f} %" if share else ""


def number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def write(folder, document, text):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("latest.json", json.dumps(document, indent=1)), ("latest.md", text + "\n")):
        temporary = folder / (name + ".tmp")
        temporary.write_text(content)
        temporary.rename(folder / name)


if __name__ == "__main__":
    main()
