#!/usr/bin/python3
"""Golden values of triplet metric learning, by numpy and scipy alone: risk, gradient and
Hessian of the logistic loss, minimizers of the regularized risk, and the hinge's by its
dual. Sums are over explicit triplets.

    python3 internal/engine/mahalanobis/testdata/scripts/golden.py > internal/engine/mahalanobis/testdata/golden.json

Seen with numpy 1.24.2 and scipy 1.10.1. With the folder of triplet_rrm.py as argument
the risk and the minimizers are compared with that program's too.
"""

import json
import sys

import numpy as np
from scipy.optimize import minimize

ROOT2 = np.sqrt(2)


def svec(a):
    """Rows a to coordinates of a a^T whose inner products are the matrices'."""
    r, c = np.triu_indices(a.shape[-1])
    return a[..., r] * a[..., c] * np.where(r == c, 1, ROOT2)


def features(pos, neg):
    """svec(aa^T - bb^T) of all triplets, one a row."""
    rows = []
    for i in range(len(pos)):
        for j in range(len(pos)):
            for k in range(len(neg)):
                if i != j:
                    rows.append(svec(pos[i] - pos[j]) - svec(pos[i] - neg[k]))
    return np.array(rows)


def logistic(m, theta, zeta, sign):
    u = sign * (m @ theta + zeta)
    s = 1 / (1 + np.exp(-u))
    value = np.logaddexp(0, u).mean()
    grad = sign * (m * s[:, None]).mean(0)
    hess = (m * (s * (1 - s))[:, None]).T @ m / len(m)
    return value, grad, hess


def rrm(m, sigma, zeta, sign):
    """Newton's method with halved steps, to the end of float64."""
    theta = np.zeros(m.shape[1])
    for _ in range(100):
        v, g, h = logistic(m, theta, zeta, sign)
        g = g + sigma * theta
        step = np.linalg.solve(h + sigma * np.eye(len(theta)), g)
        t, f = 1.0, v + sigma / 2 * theta @ theta
        while t > 1e-4:
            new = theta - t * step
            if logistic(m, new, zeta, sign)[0] + sigma / 2 * new @ new <= f + 1e-15:
                break
            t /= 2
        theta = theta - t * step
    v, g, _ = logistic(m, theta, zeta, sign)
    return theta, v, float(np.linalg.norm(g + sigma * theta))


def hinge(m, sigma, zeta):
    """The minimizer from the dual, max over s in [0, 1] of zeta mean(s) - ||mean(s m)||^2
    / (2 sigma), by L-BFGS-B; and the gap between both."""
    n = len(m)

    def dual(s):
        g = m.T @ s / n
        return (g @ g) / (2 * sigma) - zeta * s.mean(), (m @ g) / (n * sigma) - zeta / n

    s = np.full(n, 0.5)
    for _ in range(20):
        s = minimize(dual, s, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * n,
                     options=dict(maxiter=100000, maxfun=1000000, ftol=1e-16, gtol=1e-14, maxcor=50)).x
    theta = -m.T @ s / (n * sigma)
    risk = np.maximum(0, m @ theta + zeta).mean()
    gap = risk + sigma / 2 * theta @ theta + dual(s)[0]
    return theta, risk, float(gap)


def main():
    rng = np.random.default_rng(7)
    pos = np.round(rng.normal(size=(6, 3)) * [0.2, 0.4, 0.3] + [0.3, 0, 0], 6)
    neg = np.round(rng.normal(size=(5, 3)) * [0.2, 0.4, 0.3] - [0.3, 0, 0], 6)
    theta = np.round(rng.normal(size=6), 6)
    m = features(pos, neg)
    out = {"positive": pos.ravel().tolist(), "negative": neg.ravel().tolist(), "d": 3, "zeta": 0.1,
           "theta": theta.tolist(), "at_theta": [], "rrm": []}
    for name, sign in (("logistic", 1), ("logistic-printed", -1)):
        v, g, h = logistic(m, theta, 0.1, sign)
        u = m @ theta + 0.1
        out["at_theta"].append({"loss": name, "risk": v, "gradient": g.tolist(), "hessian": h.ravel().tolist(),
                                "zero_one": float((u >= 0).mean())})
        for sigma in (1.0, 0.01, 1e-4):
            w, v, norm = rrm(m, sigma, 0.1, sign)
            assert norm < 1e-14, norm
            out["rrm"].append({"loss": name, "zeta": 0.1, "sigma": sigma, "theta": w.tolist(), "risk": v, "within": norm / sigma})
    for sigma in (1.0, 0.05):
        w, v, gap = hinge(m, sigma, 0.5)
        out["rrm"].append({"loss": "hinge", "zeta": 0.5, "sigma": sigma, "theta": w.tolist(), "risk": v,
                           "within": float(np.sqrt(2 * max(gap, 0) / sigma))})
    if len(sys.argv) > 1:
        compare(sys.argv[1], pos, neg, theta, out)
    print(json.dumps(out, indent=1))


def compare(folder, pos, neg, theta, out):
    sys.path.insert(0, folder)
    import triplet_rrm

    for sign, mine in zip((1, -1), out["at_theta"]):
        v, g, h = triplet_rrm.risk(theta, pos, neg, 0.1, sign, 2)
        assert abs(v - mine["risk"]) < 1e-14 and abs(g - mine["gradient"]).max() < 1e-14
        assert abs(h.ravel() - mine["hessian"]).max() < 1e-14
    for mine in out["rrm"]:
        if mine["loss"] != "hinge":
            w = triplet_rrm.rrm(pos, neg, mine["sigma"], 0.1, 1 if mine["loss"] == "logistic" else -1)
            # It stops at a gradient of 1e-11.
            assert np.linalg.norm(w - mine["theta"]) < 2e-11 / mine["sigma"]


if __name__ == "__main__":
    main()
