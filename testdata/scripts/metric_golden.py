#!/usr/bin/env python3
"""Golden values of the clustering scores in internal/metric, from scikit-learn.

    python3 testdata/scripts/metric_golden.py internal/metric/testdata/labelings.json

Made with scikit-learn 1.2.1 and SciPy 1.10.1: normalized_mutual_info_score, adjusted_mutual_info_score,
adjusted_rand_score, homogeneity_completeness_v_measure, fowlkes_mallows_score, rand_score; acc by
linear_sum_assignment on the contingency matrix. 200 labelings of 1 to 5,000 items, drawn by draws.py and anew in
the test: of each the seed, the numbers asked for, how the second is made of the first, and the scores.
"""
import json, sys, warnings
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.metrics.cluster import contingency_matrix
from draws import Draws

KINDS = ["independent", "noisy", "coarse", "fine", "skewed", "noisy", "fine", "coarse", "same", "one", "single", "both one", "both single"]
SIZES = [1, 2, 3, 4, 6, 10, 30, 100, 300, 1000, 50, 5000, 20]


def labelings(seed, n, classes, clusters, kind):
    r = Draws(seed)
    truth = [r.below(classes) for _ in range(n)]
    if kind == "independent":
        pred = [r.below(clusters) for _ in truth]
    elif kind == "noisy":
        pred = [r.below(clusters) if r.below(4) == 0 else t for t in truth]
    elif kind == "coarse":
        pred = [r.below(clusters) if r.below(10) == 0 else t // 3 for t in truth]
    elif kind == "fine":
        pred = [3 * t + r.below(3) for t in truth]
    elif kind == "skewed":
        pred = [r.below(1 + r.below(clusters)) for _ in truth]
    elif kind == "same":
        pred = [classes - t for t in truth]
    elif kind == "one":
        pred = [7] * n
    elif kind == "single":
        pred = list(range(n))
    elif kind == "both one":
        truth, pred = [3] * n, [7] * n
    else:
        truth, pred = list(range(n)), list(range(n, 0, -1))
    return truth, pred


cases = []
warnings.simplefilter("ignore")
for i in range(200):
    n = SIZES[i * 7 % len(SIZES)] if i < 169 else 37 * (i - 150)
    r = Draws(1000 + i)
    kind = KINDS[i // 13 % len(KINDS)] if i < 169 else KINDS[i % 8]
    classes, clusters = 1 + r.below(min(n, 40)), 1 + r.below(min(n, 60))
    truth, pred = labelings(i, n, classes, clusters, kind)
    table = contingency_matrix(truth, pred)
    rows, cols = linear_sum_assignment(-table)
    h, c, v = metrics.homogeneity_completeness_v_measure(truth, pred)
    cases.append({"seed": i, "items": n, "classes": classes, "clusters": clusters, "kind": kind, "scores": {
        "nmi": metrics.normalized_mutual_info_score(truth, pred), "ami": metrics.adjusted_mutual_info_score(truth, pred),
        "ari": metrics.adjusted_rand_score(truth, pred), "acc": table[rows, cols].sum() / n,
        "homogeneity": h, "completeness": c, "v_measure": v,
        "fmi": metrics.fowlkes_mallows_score(truth, pred), "ri": metrics.rand_score(truth, pred)}})
json.dump(cases, open(sys.argv[1], "w"), separators=(",", ":"))
