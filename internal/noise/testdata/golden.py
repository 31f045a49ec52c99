#!/usr/bin/python3
"""Golden values for the tests of internal/noise, by programs of their own.
Run: /usr/bin/python3 internal/noise/testdata/golden.py (needs numpy; about a minute)"""
import random
import numpy as np

# --- triplet weights under single-label noise: the formula, and sampled triplets


def sln(q, nc):
    """q: a label becomes a uniform class, its own included. The positive is of the anchor's
    noisy class, the negative of another one. Gives beta, gamma, w11, w10, w01, w00."""
    a = 1 - q
    s, e = a + q / nc, q / nc
    nu = s / (nc - 1) + e * (nc - 2) / (nc - 1)
    beta, gamma = s * s + (nc - 1) * e * e, 1 - (s * e + (nc - 1) * e * nu)
    return (beta, gamma, s * s * (1 - e) + (nc - 1) * e * e * (1 - nu), s * s * e + (nc - 1) * e * e * nu,
            s * (1 - s) * (1 - e) + (nc - 1) * e * (1 - e) * (1 - nu), s * (1 - s) * e + (nc - 1) * e * (1 - e) * nu)


def sln_sampled(q, nc, rng, n=200000, t=1500000):
    y = rng.integers(nc, size=n)
    z = np.where(rng.random(n) < q, rng.integers(nc, size=n), y)
    order = np.argsort(z, kind="stable")
    start = np.searchsorted(z[order], np.arange(nc + 1))
    a = rng.integers(n, size=t)
    pick = lambda c: order[start[c] + (rng.random(t) * (start[c + 1] - start[c])).astype(int)]
    p, m = pick(z[a]), pick((z[a] + rng.integers(1, nc, size=t)) % nc)
    ok = p != a
    p, m = (y[p] == y[a])[ok], (y[m] != y[a])[ok]
    return p.mean(), m.mean(), (p & m).mean(), (p & ~m).mean(), (~p & m).mean(), (~p & ~m).mean()


# --- pair graphs: reduced set, labels, chains with negatives


def pairs(z, nc, rng, same):
    cls = [[] for _ in range(nc)]
    for i, t in enumerate(z):
        cls[t].append(i)
    out = []
    for c in range(nc):
        for k, i in enumerate(cls[c]):
            out.append((i, cls[c][(k + 1) % len(cls[c])], 1))
            d = (c + rng.randrange(1, nc)) % nc
            out.append((i, cls[d][k % len(cls[d])] if same else rng.choice(cls[d]), 0))
    return out


def wrong(nc, per, pln, shuffled, same, reps, rng):
    """The share of wrong pairs under single-label noise: mean over draws, and its standard error."""
    q, vals = 1 - (1 - pln) ** .5, []
    for _ in range(reps):
        y = [c for c in range(nc) for _ in range(per)]
        if shuffled:
            rng.shuffle(y)
        z = [rng.randrange(nc) if rng.random() < q else t for t in y]
        ps = pairs(z, nc, rng, same)
        vals.append(sum(l != (y[a] == y[b]) for a, b, l in ps) / len(ps))
    return np.mean(vals), np.std(vals) / len(vals) ** .5


def floor(nc, per, p, same, reps, rng):
    """Contradictory duplicates and mirrored negatives under pair noise: means over draws."""
    vals = []
    for _ in range(reps):
        ps = pairs([c for c in range(nc) for _ in range(per)], nc, rng, same)
        count, mirrored = {}, {}
        for a, b, l in ps:
            k = (min(a, b), max(a, b))
            if l == 0:
                mirrored[k] = mirrored.get(k, 0) + 1
            count.setdefault(k, [0, 0])[l ^ (rng.random() < p)] += 1
        vals.append((sum(min(v) for v in count.values()) / len(ps), sum(v > 1 for v in mirrored.values())))
    return np.mean(vals, axis=0), np.std(vals, axis=0) / reps ** .5


# --- a mixture of two gamma distributions, value by value


def mixture(x):
    from math import lgamma, log
    unit = x.mean()
    x = np.maximum(x / unit, 1e-3)

    def fit(w):
        m = (w * x).sum() / w.sum()
        v = (w * (x - m) ** 2).sum() / w.sum()
        return m * m / v, v / m

    def log_density(k, t):
        return (k - 1) * np.log(x) - x / t - lgamma(k) - k * log(t)

    cuts = np.sort(x)
    within = [c.var() * len(c) + d.var() * len(d) for c, d in ((cuts[:i], cuts[i:]) for i in range(1, len(cuts)))]
    r = np.where(x >= cuts[1 + np.argmin(within)], .95, .05)
    for _ in range(5000):
        w, low, high = r.mean(), fit(1 - r), fit(r)
        new = 1 / (1 + np.exp(log_density(*low) + np.log(1 - w) - log_density(*high) - np.log(w)))
        done = abs(new.mean() - w) < 1e-10
        r = new
        if done:
            break
    mean = [k * t for k, t in (low, high)]
    var = [k * t * t for k, t in (low, high)]
    return r.mean(), mean[0] * unit, mean[1] * unit, (mean[1] - mean[0]) / ((var[0] + var[1]) / 2) ** .5


def losses(wrong, n):
    """n losses, of which wrong are large, without random numbers."""
    return np.array([.45 + .5 * (i * .7548776662 % 1) if i < wrong else .4 * (i * .6180339887 % 1) ** 4 for i in range(n)])


if __name__ == "__main__":
    np_rng, rng = np.random.default_rng(0), random.Random(1)
    for nc, pln in ((10, .2), (10, .4), (10, .6), (2, .2), (2, .4), (3, .3), (100, .4)):
        q = 1 - (1 - pln) ** .5
        print("weights", nc, pln, *(repr(float(v)) for v in sln(q, nc)))
        print("   sampled", *("%.4f" % v for v in sln_sampled(q, nc, np_rng)))
    for nc, pln in ((10, .2), (10, .4), (3, .4)):
        for shuffled in (True, False):
            for same in (True, False):
                print("wrong", nc, pln, "shuffled" if shuffled else "sorted", "same" if same else "random",
                      "%.5f se %.5f" % wrong(nc, 300, pln, shuffled, same, 60, rng))
    for nc, per, p in ((10, 300, .1), (10, 300, .2), (5, 600, .1), (3, 1000, .1), (2, 1500, .1), (10, 20, .1)):
        for same in (True, False):
            m, se = floor(nc, per, p, same, 60, rng)
            print("floor", nc, per, p, "same" if same else "random", "%.5f se %.5f, mirrored %.1f se %.1f" % (m[0], se[0], m[1], se[1]))
    for wrong in (100, 200):
        print("mixture", wrong, *mixture(losses(wrong, 500)))
