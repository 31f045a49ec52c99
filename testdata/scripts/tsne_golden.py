#!/usr/bin/env python3
"""Golden values of t-SNE in internal/cluster/tsne, from scikit-learn.

    python3 testdata/scripts/tsne_golden.py internal/cluster/tsne/testdata/tsne.json

Made with scikit-learn 1.2.1 on 360 rows in 8 dimensions from an integer formula, exact in float32: the joint
probabilities of all pairs and of the floor(3 perplexity + 1) nearest neighbors (two rows of each), gradient and KL at a
fixed map, and the KL at which TSNE ends from the principal components (exact and Barnes-Hut). Trustworthiness for some k
is on 90 rows of their own, RandomState(0), in which no distances are equal.
"""
import json, sys
import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import TSNE, trustworthiness
from sklearn.manifold._t_sne import _joint_probabilities, _joint_probabilities_nn, _kl_divergence
from sklearn.neighbors import NearestNeighbors

N, D, PERPLEXITY = 360, 8, 20
i = np.arange(N, dtype=np.int64).reshape(-1, 1)
k = np.arange(D, dtype=np.int64).reshape(1, -1)
x = ((i * i * 29 + 13 * i * k + 7 * k + i * i * i * (k + 3)) % 101) / 32 + (((i % 6) * (k + 2) * 5 + k * k) % 7) / 4
x = x.astype(np.float32)
d2 = squareform(pdist(x.astype(np.float64), "sqeuclidean")).astype(np.float32)
dense = _joint_probabilities(d2, PERPLEXITY, 0)
near = NearestNeighbors(n_neighbors=3 * PERPLEXITY + 1).fit(x).kneighbors_graph(mode="distance")
near.data **= 2
sparse = _joint_probabilities_nn(near.astype(np.float32), PERPLEXITY, 0)
y = np.stack([((i[:, 0] * 37) % 101) / 16 - 3, ((i[:, 0] * i[:, 0] * 11) % 103) / 16 - 3], 1)
kl, gradient = _kl_divergence(y.ravel(), dense, 1, N, 2)
end = {}
for method in ("exact", "barnes_hut"):
    m = TSNE(perplexity=PERPLEXITY, init="pca", learning_rate="auto", method=method, n_iter=1000, random_state=0).fit(x)
    end[method] = float(m.kl_divergence_)
rows = [5, 100]
r = np.random.RandomState(0)
tx, ty = r.randint(-512, 512, (90, 3)) / 128, r.randint(-512, 512, (90, 2)) / 128
tx, ty = [(v + 1e-3 * r.rand(*v.shape)).astype(np.float32).astype(np.float64) for v in (tx, ty)]
json.dump({
    "rows": N, "cols": D, "perplexity": PERPLEXITY, "x": x.flatten().tolist(), "p_rows": rows,
    "dense": squareform(dense)[rows].tolist(), "sparse": sparse.toarray()[rows].tolist(), "y": y.flatten().tolist(),
    "kl": kl, "gradient": gradient.tolist(), "end": end,
    "trust": {"rows": 90, "x": tx.flatten().tolist(), "y": ty.flatten().tolist(), "values": {str(k): trustworthiness(tx, ty, n_neighbors=k) for k in (1, 5, 20, 40)}},
}, open(sys.argv[1], "w"), separators=(",", ":"))
