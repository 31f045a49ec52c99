"""The process around a measurement: threads, memory, versions, repetitions.

Import this module, and call prepare, before numpy, torch or scikit-learn: they
read the number of threads and the BLAS core type once, when they are loaded.
"""

import os
import platform
import resource
import statistics
import subprocess
import time

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def prepare(threads, wait):
    """Sets the number of threads, OpenBLAS's core type, and what OpenMP's threads
    do without work: "spin", as is libgomp's way for a while, or "sleep".

    Debian's OpenBLAS has threads of its own, whose processors spinning threads
    take: with as many threads as processors either choice may be the faster one.
    It also does not know newer AVX-512 processors and falls back to a slower core
    type; SKYLAKEX is its AVX-512 one.
    """
    for name in THREAD_VARIABLES:
        os.environ[name] = str(threads)
    if wait == "sleep":
        os.environ["OMP_WAIT_POLICY"] = "passive"
    if "avx512f" in cpu_flags():
        os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")


def cpu_flags():
    return cpu_info("flags").split()


def cpu_info(key):
    """The first value of key in /proc/cpuinfo, empty where there is none."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == key:
                    return value.strip()
    except OSError:
        pass
    return ""


def peak_rss_kb():
    """The largest resident size of this process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def versions(*modules):
    """Versions of Python and of the given modules, and of Debian's packages of
    them where dpkg tells."""
    out = {"python": platform.python_version()}
    for module in modules:
        out[module.__name__] = module.__version__
        package = {"sklearn": "python3-sklearn", "numpy": "python3-numpy", "torch": "python3-torch", "PIL": "python3-pil"}[module.__name__]
        version = debian_version(package)
        if version:
            out[package] = version
    if "OPENBLAS_CORETYPE" in os.environ:
        out["openblas_coretype"] = os.environ["OPENBLAS_CORETYPE"]
    return out


def debian_version(package):
    """The installed version of a Debian package, empty where it is not one."""
    try:
        found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    except OSError:
        return ""
    return found.stdout if found.returncode == 0 else ""


class Times:
    """Seconds of each repetition of one thing."""

    def __init__(self, seconds):
        self.seconds = seconds

    @property
    def best(self):
        return min(self.seconds)

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def mean(self):
        return statistics.fmean(self.seconds)


def repeat(run, seconds, warm_up=2, least=3):
    """Times run() for about that many seconds, at least `least` times. The first
    warm_up calls do not count; a second one is left out where one is long."""
    start = time.perf_counter()
    for _ in range(warm_up):
        run()
        if time.perf_counter() - start > seconds:
            break
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return Times(times)
