"""Writes internal/metric/testdata/query_gallery.json: retrieval scores of queries against a
gallery, by numpy in float64, with sequences and items that are both.

    python3 testdata/scripts/query_gallery.py > internal/metric/testdata/query_gallery.json
"""
import json
import sys

import numpy as np

rng = np.random.default_rng(19)
Q, G, D, K = 90, 140, 5, 12
x = rng.integers(-40, 40, (Q, D))
g = rng.integers(-40, 40, (G, D))
y, gy = rng.integers(0, K, Q), rng.integers(0, K, G)
own = np.full(Q, -1)
for q in range(0, Q, 3):  # these queries are gallery items too
    own[q] = q
    g[q], gy[q] = x[q], y[q]
seq, gseq = rng.integers(-3, 12, Q), rng.integers(-3, 12, G)
seq[::3] = gseq[:Q:3]  # an item is of one sequence

d2 = ((x[:, None] - g[None]) ** 2).sum(-1).astype(float)
out = (seq[:, None] == gseq[None]) & (seq[:, None] >= 0)
out |= own[:, None] == np.arange(G)[None]
names = ["recall@1", "recall@10", "recall@100", "map", "map@r", "r_precision"]
rows, kept = [], []
for q in range(Q):
    order = np.argsort(d2[q], kind="stable")
    rel = (gy[order] == y[q])[~out[q][order]]
    R = int(rel.sum())
    if R == 0:
        continue
    precision = np.cumsum(rel) / np.arange(1, len(rel) + 1)
    rows.append([float(rel[:k].any()) for k in (1, 10, 100)]
                + [precision[rel].mean(), (precision * rel)[:R].sum() / R, rel[:R].sum() / R])
    kept.append(q)
json.dump({
    "x": x.ravel().tolist(), "labels": y.tolist(), "gallery": g.ravel().tolist(), "gallery_labels": gy.tolist(),
    "own": own.tolist(), "sequence": seq.tolist(), "gallery_sequence": gseq.tolist(), "dim": D,
    "queries": kept, "scores": dict(zip(names, np.mean(rows, 0).tolist())),
}, sys.stdout)
