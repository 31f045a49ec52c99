#!/usr/bin/python3
"""Golden values of ../golden.json, with numpy and plain sums over all triplets: regularized risk minimization by
Newton on a small sample, one sample at a time replaced by B e_1, -B e_1 and the mean of the other side; largest change
of the loss over all triplets of the sample; risks of held-out points, with the control variate of a reference.
usage: golden.py > ../golden.json"""
import json, sys
import numpy as np

D, SIGMA, ZETA, B = 2, 0.5, 0.1, 1.0
rng = np.random.default_rng(7)


def points(n, mean):
    x = rng.normal(size=(n, D)) * 0.35 + mean
    return x * np.minimum(1, B / np.linalg.norm(x, axis=1, keepdims=True)) * 0.999


def features(P, N):  # all triplets i != j, k
    rows = []
    for i in range(len(P)):
        for j in range(len(P)):
            for k in range(len(N)):
                if i != j:
                    a, b = P[i] - P[j], P[i] - N[k]
                    M = np.outer(a, a) - np.outer(b, b)
                    rows.append([M[0, 0], 2**0.5 * M[0, 1], M[1, 1]])
    return np.array(rows)


def loss(u):
    return np.logaddexp(0, u)


def solve(P, N):
    F, th = features(P, N), np.zeros(3)
    for _ in range(50):
        s = 1 / (1 + np.exp(-(F @ th + ZETA)))
        g = F.T @ s / len(F) + SIGMA * th
        H = F.T @ (F * (s * (1 - s))[:, None]) / len(F) + SIGMA * np.eye(3)
        th = th - np.linalg.solve(H, g)
    assert np.linalg.norm(g) < 1e-14
    return th


def risk(th, P, N):
    return loss(features(P, N) @ th + ZETA).mean()


def error(th, P, N):
    return float((features(P, N) @ th >= 0).mean())


P, N = points(6, [0.2, 0]), points(5, [-0.2, 0.1])
HP, HN = points(7, [0.2, 0]), points(4, [-0.2, 0.1])
RP, RN = points(8, [0.2, 0]), points(9, [-0.2, 0.1])
th, F = solve(P, N), features(P, N)
by, moved = {}, 0.0
for side, X, Y in (("positives", P, N), ("negatives", N, P)):
    for name, z in (("+B e_1", [B, 0]), ("-B e_1", [-B, 0]), ("far mean", Y.mean(0))):
        most = 0.0
        for m in range(len(X)):
            Z = X.copy()
            Z[m] = z
            t = solve(Z, N) if side == "positives" else solve(P, Z)
            most = max(most, abs(loss(F @ t + ZETA) - loss(F @ th + ZETA)).max())
            moved = max(moved, np.linalg.norm(t - th))
        by[side + " " + name] = most
ref = solve(RP, RN)
train, test = risk(th, P, N), risk(th, HP, HN)
json.dump(dict(d=D, sigma=SIGMA, zeta=ZETA, radius=B, positive=P.ravel().tolist(), negative=N.ravel().tolist(),
               held_positive=HP.ravel().tolist(), held_negative=HN.ravel().tolist(),
               reference_positive=RP.ravel().tolist(), reference_negative=RN.ravel().tolist(),
               theta=th.tolist(), by=by, moved=moved, train=train, test=test, norm=float(np.linalg.norm(th)),
               gap=test - train + risk(ref, P, N) - risk(ref, HP, HN),
               error_train=error(th, P, N), error_test=error(th, HP, HN), error_euclidean=error(np.array([1, 0, 1.0]), HP, HN)),
          sys.stdout, indent=1)
print()
