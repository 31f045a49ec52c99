"""Values of the multi-similarity loss (Wang et al., CVPR 2019) in float64 by plain loops.

Writes internal/engine/loss/testdata/multi_similarity.json. Needs Python 3 alone.

The loss is that of pytorch-metric-learning's MultiSimilarityLoss (base is the paper's
lambda) with the mean or the sum over the rows of a batch, on the pairs of its
MultiSimilarityMiner. Gradients are exact, by
forward differentiation with dual numbers, one coordinate at a time.
"""

import json
import math
import pathlib
import random


class Dual:
    """A number and its derivative."""

    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    def __add__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v * o.v, self.d * o.v + self.v * o.d)

    __rmul__ = __mul__

    def __sub__(self, o):
        return self + (-1.0) * (o if isinstance(o, Dual) else Dual(o))

    def exp(self):
        e = math.exp(self.v)
        return Dual(e, e * self.d)

    def log(self):
        return Dual(math.log(self.v), self.d / self.v)

    def power(self, p):
        return Dual(self.v**p, p * self.v ** (p - 1) * self.d)


def loss(z, labels, o):
    n = len(z)
    lengths = [sum((x * x for x in row), Dual(0.0)).power(0.5) for row in z]

    def cosine(i, j):
        dot = sum((x * y for x, y in zip(z[i], z[j])), Dual(0.0))
        return dot * (lengths[i] * lengths[j]).power(-1.0)

    s = [[cosine(i, j) for j in range(n)] for i in range(n)]
    total, nonzero, kept = Dual(0.0), 0, set()
    for i in range(n):
        positives = [j for j in range(n) if j != i and labels[j] == labels[i]]
        if o["variant"] == "published":
            positives = [j for j in positives if s[i][j].v < 1 - 1e-5]
        negatives = [j for j in range(n) if labels[j] != labels[i]]
        if not positives or not negatives:
            continue
        hardest = max(s[i][k].v for k in negatives)
        easiest = min(s[i][k].v for k in positives)
        positives = [j for j in positives if s[i][j].v - o["epsilon"] < hardest]
        negatives = [j for j in negatives if s[i][j].v + o["epsilon"] > easiest]
        kept |= {(min(i, j), max(i, j)) for j in positives + negatives}
        a, b, base = o["alpha"], o["beta"], o["base"]
        term = Dual(0.0)
        if positives:
            term += (1 / a) * sum(((-a * (s[i][j] - base)).exp() for j in positives), Dual(1.0)).log()
        if negatives:
            term += (1 / b) * sum(((b * (s[i][j] - base)).exp() for j in negatives), Dual(1.0)).log()
        nonzero += term.v > 0
        total += term
    divisor = {"mean": n, "sum": 1, "mean-nonzero": max(nonzero, 1)}[o["reducer"]]
    return (1 / divisor) * total, len(kept)


def case(name, z, labels, **o):
    o = {"alpha": 2.0, "beta": 50.0, "base": 0.5, "epsilon": 0.1, "reducer": "mean", "variant": "paper"} | o
    value, kept = loss([[Dual(x) for x in row] for row in z], labels, o)
    gradient = []
    for i in range(len(z)):
        for k in range(len(z[0])):
            dual = [[Dual(x, float((r, c) == (i, k))) for c, x in enumerate(row)] for r, row in enumerate(z)]
            gradient.append(loss(dual, labels, o)[0].d)
    return {"name": name, "options": o, "rows": z, "labels": labels, "loss": value.v, "active": kept, "gradient": gradient}


def single(x):
    """Rounds x to float32's neighborhood: 1/4096 steps are exact in float32."""
    return round(x * 4096) / 4096


def batch(r, n, d):
    return [[single(r.gauss(0, 1)) for _ in range(d)] for _ in range(n)]


r = random.Random(7)
z = batch(r, 8, 3)
labels = [0, 0, 1, 1, 2, 2, 0, 3]  # the last row is alone in its class
near = [[single(1 + 0.05 * r.gauss(0, 1)) for _ in range(4)] for _ in range(6)]
twice = [z[0], [2 * x for x in z[0]], *z[2:]]  # rows 0 and 1 have one direction, and row 6 their class
cases = [
    case("defaults", z, labels),
    case("sum", z, labels, reducer="sum"),
    case("mean of rows that cost", z, labels, reducer="mean-nonzero"),
    case("all pairs", z, labels, epsilon=2.5),
    case("no margin", z, labels, epsilon=0.0),
    case("other weights", z, labels, alpha=10.0, beta=5.0, base=-0.2),
    case("long and short rows", [[x * (1 + 7 * (i % 3)) / 8 for x in row] for i, row in enumerate(z)], labels),
    case("nearly parallel", near, [0, 0, 0, 1, 1, 1]),
    case("one class", z, [0] * 8),
    case("no class twice", z, list(range(8))),
    case("duplicates", twice, labels),
    case("duplicates, published", twice, labels, beta=40.0, epsilon=2.5, variant="published"),
]
out = pathlib.Path(__file__).parents[2] / "internal/engine/loss/testdata/multi_similarity.json"
out.write_text(json.dumps({"cases": cases}, indent=1) + "\n")
