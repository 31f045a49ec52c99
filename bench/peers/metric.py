"""Triplet metric learning by scipy's L-BFGS-B on numpy's sums over all triplets."""

import numpy as np

import machine

SEED = 0
POINTS, DIMENSIONS, SIGMA, ZETA = 200, 8, 1e-3, 0.1
TOLERANCE = 1e-9  # of the gradient, in units of sigma


def classes(n, d):
    """Two normal classes that overlap, points outside the unit ball pulled onto it."""
    rng = np.random.default_rng(SEED)
    out = []
    for shift in (0.25, -0.25):
        x = 0.3 * rng.standard_normal((n, d))
        x[:, 0] += shift
        out.append(x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True)))
    return out


class Objective:
    """R_S(w) + sigma/2 ||w||^2 with the logistic loss, and its gradient, w as its upper
    triangle with root 2 off the diagonal.

    Products with matrices where they serve, e^u as a product of e^p and e^-q so that no
    triplet needs an exponential, and arrays written in place: as a careful user would.
    """

    def __init__(self, pos, neg, sigma, zeta):
        self.pos, self.neg, self.sigma, self.zeta = pos, neg, sigma, zeta
        self.upper = np.triu_indices(pos.shape[1])
        self.root = np.where(self.upper[0] == self.upper[1], 1.0, np.sqrt(2))
        n, m = len(pos), len(neg)
        self.odds, self.share, self.weights = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
        self.a, self.b = np.empty((n, n)), np.empty((n, m))
        self.calls, self.least = 0, np.inf

    def matrix(self, theta):
        d = self.pos.shape[1]
        w = np.zeros((d, d))
        w[self.upper] = theta / self.root
        return w + np.triu(w, 1).T

    def __call__(self, theta):
        w = self.matrix(theta)
        x, y = self.pos, self.neg
        xw = x @ w
        own_x, own_y = (xw * x).sum(1), ((y @ w) * y).sum(1)
        p = own_x[:, None] + own_x[None] - 2 * xw @ x.T
        q = own_x[:, None] + own_y[None] - 2 * xw @ y.T
        value = 0.0
        for i in range(len(x)):
            c = (p[i].max() + q[i].min()) / 2
            e = np.exp(p[i] + (self.zeta - c))
            e[i] = 0  # the anchor is no positive of its own: e^u = 0
            np.multiply(e[:, None], np.exp(c - q[i])[None], out=self.odds)
            np.add(self.odds, 1, out=self.share)
            np.divide(self.odds, self.share, out=self.weights)
            np.log(self.share, out=self.share)
            value += self.share.sum()
            self.a[i], self.b[i] = self.weights.sum(1), self.weights.sum(0)
        a, b = self.a, self.b
        cross = x.T @ b @ y
        grad = (x.T * (a.sum(1) + a.sum(0) - b.sum(1))) @ x - x.T @ (a + a.T) @ x - (y.T * b.sum(0)) @ y + cross + cross.T
        z = len(x) * (len(x) - 1) * len(y)
        g = grad[self.upper] * self.root / z + self.sigma * theta
        self.calls += 1
        self.least = min(self.least, float(np.linalg.norm(g)))
        return value / z + self.sigma / 2 * theta @ theta, g


def rrm(threads, seconds, _):
    """Minimizes from 0 to the tolerance; where the line search ends on rounding before
    it, starts anew from there, as long as that helps."""
    import scipy
    from scipy.optimize import minimize

    pos, neg = classes(POINTS, DIMENSIONS)
    size = DIMENSIONS * (DIMENSIONS + 1) // 2
    last = {}

    def run():
        f, theta, reached = Objective(pos, neg, SIGMA, ZETA), np.zeros(size), np.inf
        while True:
            # The largest number of a gradient of that length may be as small as that.
            r = minimize(f, theta, jac=True, method="L-BFGS-B",
                         options=dict(maxcor=30, ftol=0, gtol=TOLERANCE * SIGMA / np.sqrt(size), maxiter=10000, maxfun=10000))
            norm = float(np.linalg.norm(r.jac))
            if norm <= TOLERANCE * SIGMA or norm >= reached / 2:
                break
            theta, reached = r.x, norm
        last.update(evaluations=f.calls, certificate=f.least / SIGMA)

    t = machine.repeat(run, seconds, warm_up=0, least=1)
    return {
        "parts": [{"name": f"{POINTS}+{POINTS}", "seconds": t.median, "seconds_best": t.best}],
        "times": t,
        "evaluations": [last["evaluations"]],
        "certificates": [last["certificate"]],
        "versions": {**machine.versions(np), "scipy": scipy.__version__},
    }


JOBS = {"rrm": rrm}
