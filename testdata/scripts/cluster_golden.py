#!/usr/bin/env python3
"""Golden values of k-means, agglomerative clustering and the silhouette in internal/cluster, from scikit-learn.

    python3 testdata/scripts/cluster_golden.py internal/cluster/testdata/sklearn.json

Made with scikit-learn 1.2.1 in float64, on data that are exact in float32, drawn by draws.py and anew in the test.
kmeans: the inertia of KMeans(k, n_init=10, random_state=0) on 20 data sets. agglomerative: labels (numbered by
size, then first row) of AgglomerativeClustering with n_clusters and with distance_threshold, and every seventh of
its distances. silhouette: silhouette_score of those labels.
"""
import json, sys
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import silhouette_score
from draws import Draws


def blobs(seed, n, d, k, spread):
    r = Draws(seed)
    centre = [[spread * (r.unit() - 0.5) for _ in range(d)] for _ in range(k)]
    return np.array([[c + r.normal() for c in centre[r.below(k)]] for _ in range(n)])


def numbered(labels):
    groups = sorted(((-np.sum(labels == l), np.argmax(labels == l)) for l in set(labels)))
    number = {labels[first]: i for i, (_, first) in enumerate(groups)}
    return [number[l] for l in labels]


# rows, dimensions, blobs, spread of their centres, k
SETS = [(300, 2, 5, 32, 5), (300, 2, 5, 32, 8), (1000, 2, 15, 16, 15), (1000, 2, 1, 0, 10), (500, 4, 8, 8, 8),
        (500, 8, 10, 8, 10), (1000, 8, 10, 4, 10), (800, 16, 10, 4, 10), (1200, 16, 20, 8, 20), (600, 32, 10, 4, 10),
        (600, 32, 10, 2, 10), (2000, 32, 10, 4, 10), (1000, 64, 10, 4, 10), (1000, 64, 10, 2, 10), (2000, 10, 30, 8, 30),
        (2000, 3, 50, 64, 50), (400, 1, 6, 32, 6), (3000, 5, 12, 8, 3), (250, 100, 4, 4, 4), (1500, 12, 25, 16, 25)]
kmeans = []
for i, (n, d, b, spread, k) in enumerate(SETS):
    x = blobs(i + 1, n, d, b, spread)
    kmeans.append({"seed": i + 1, "n": n, "d": d, "blobs": b, "spread": spread, "k": k,
                   "inertia": KMeans(k, n_init=10, random_state=0).fit(x).inertia_})
trees = []
for i, (n, d, b, spread, k) in enumerate([(120, 3, 4, 16, 4), (250, 8, 6, 4, 6), (90, 40, 3, 2, 5)]):
    x = blobs(100 + i, n, d, b, spread)
    for linkage in ["average", "complete", "ward"]:
        a = AgglomerativeClustering(k, linkage=linkage, compute_distances=True).fit(x)
        threshold = float(a.distances_[n - 2 * k] * 0.5 + a.distances_[n - 2 * k - 1] * 0.5)
        t = AgglomerativeClustering(None, distance_threshold=threshold, linkage=linkage).fit(x)
        trees.append({"seed": 100 + i, "n": n, "d": d, "blobs": b, "spread": spread, "linkage": linkage, "k": k,
                      "labels": numbered(a.labels_), "distances": a.distances_[::7].tolist(), "threshold": threshold,
                      "clusters": int(t.n_clusters_), "labels_at": numbered(t.labels_), "silhouette": silhouette_score(x, a.labels_)})
json.dump({"kmeans": kmeans, "trees": trees}, open(sys.argv[1], "w"), separators=(",", ":"))
