"""Runs the recipe for faiss of docs/large-galleries.md as written, and compares what
tercet eval --neighbors says of the lists with a count in numpy.

usage: check_faiss.py TERCET   (needs faiss and numpy)
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

SMALL = "train --set name=first --set train.epochs=1 --set data.size=16 --set model=linear --set data.glyphs.classes=60 --set data.glyphs.per_class=4 --set data.glyphs.test_classes=200"


def blocks():
    page = os.path.join(os.path.dirname(__file__), "../../docs/large-galleries.md")
    text = open(page).read().split("### faiss", 1)[1].split("\n#", 1)[0]
    return re.findall(r"```(\w*)\n(.*?)```", text, re.S)


def run(binary, line):
    words = shlex.split(line)
    assert words[0] == "tercet", line
    out = subprocess.run([binary] + words[1:] + ["--json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def counted(lists, k):
    """The mean share of the k nearest other rows that lists hold, ties counting."""
    n, d = np.fromfile("X.fbin", "uint32", 2)
    x = np.fromfile("X.fbin", "float32", offset=8).reshape(n, d).astype("float64")
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(2)
    np.fill_diagonal(square, np.inf)
    total = 0
    for i, found in enumerate(np.load(lists)):
        found = [j for j in found if j not in (i, -1)][:k]
        total += (square[i][found] <= np.sort(square[i])[k - 1]).sum()
    return total / (n * k)


def main():
    binary = os.path.abspath(sys.argv[1])
    recipe = blocks()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(binary, "tercet " + SMALL)
        scored = 0
        for language, text in recipe:
            if language == "python":
                exec(compile(text, "large-galleries.md", "exec"), {})
                continue
            for line in text.strip().splitlines():
                doc = run(binary, line)
                if "--neighbors" not in line:
                    continue
                lists = shlex.split(line)[shlex.split(line).index("--neighbors") + 1]
                for k in (1, 10):
                    got, want = doc["retrieval"][f"nn_recall@{k}"]["value"], counted(lists, k)
                    print(f"{lists}: nn_recall@{k} {got:.6f}, counted in numpy {want:.6f}")
                    assert abs(got - want) < 1e-4, "another recall"
                    assert lists != "flat.npy" or got > 0.9999, "exact search has missed something"
                    scored += 1
        assert scored == 4, scored


if __name__ == "__main__":
    main()
