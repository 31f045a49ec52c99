#!/usr/bin/env python3
"""Golden values of fitted thresholds in internal/cluster/link, from scikit-learn.

    python3 testdata/scripts/link_golden.py internal/cluster/link/testdata/fit.json

Made with scikit-learn 1.2.1: LogisticRegression(penalty=None, solver="newton-cg", tol=1e-8) of "same label" on d^2 or
d over all pairs of rows, plain or with class_weight="balanced", with accuracy_score (weighted as the fit) and
roc_auc_score of the pairs. Rows come from an integer formula and are exact in float32; the classes overlap.
"""
import json, sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score

N, D, K = 60, 5, 4
i = np.arange(N).reshape(-1, 1)
k = np.arange(D).reshape(1, -1)
labels = (i[:, 0] * 7) % K
x = ((i * i * 29 + 13 * i * k + 7 * k + 5 * i) % 23) / 16 + ((labels.reshape(-1, 1) * 5 + k * 3) % 7) / 6
a, b = np.triu_indices(N, 1)
same = (labels[a] == labels[b]).astype(int)
d2 = ((x[a] - x[b]) ** 2).sum(1)
cases = []
for on, u in (("squared", d2), ("distance", np.sqrt(d2))):
    for balanced in (False, True):
        m = LogisticRegression(penalty=None, solver="newton-cg", tol=1e-8, max_iter=10000, class_weight="balanced" if balanced else None)
        m.fit(u.reshape(-1, 1), same)
        w = np.where(same == 1, 0.5 / same.sum(), 0.5 / (1 - same).sum()) if balanced else None
        cases.append({"on": on, "balanced": balanced, "intercept": m.intercept_[0], "slope": m.coef_[0, 0], "accuracy": accuracy_score(same, m.predict(u.reshape(-1, 1)), sample_weight=w), "auc": roc_auc_score(same, -u), "similar": int(same.sum())})
json.dump({"rows": N, "cols": D, "x": x.flatten().tolist(), "labels": labels.tolist(), "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
