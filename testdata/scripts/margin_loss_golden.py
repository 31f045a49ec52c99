#!/usr/bin/env python3
"""Golden values of the three triplet losses for clustering in internal/engine/loss, from PyTorch.

    python3 testdata/scripts/margin_loss_golden.py internal/engine/loss/testdata/margins.json

Made with torch 1.13.1 in float64, by autograd. Embeddings come from an integer formula and are exact in float32; row 3
equals row 2. L1, L2, L3: the three losses of Ho et al. (ICPR 2020) on squared distances, over the triplets of the list.
pairs: pytorch-metric-learning's ContrastiveLoss(pos_margin=beta, neg_margin=alpha, LpDistance(power=2,
normalize_embeddings=False)) with a sum reducer on the batch's labels, written out: relu(d2 - beta) over all ordered pairs
of one label, relu(alpha - d2) over all of two. It counts each unordered pair twice.
"""
import json, sys
import torch

B, D = 10, 6
i = torch.arange(B).view(-1, 1)
k = torch.arange(D).view(1, -1)
z = (((i * i * 17 + 11 * i * k + 5 * k + 3 * i) % 19).double() / 16 - 0.5) * 0.75
z[3] = z[2]
labels = torch.tensor([0, 0, 1, 1, 1, 2, 2, 0, 2, 1])
triplets = [(a, p, n) for a in range(B) for p in range(B) for n in range(B) if a != p and labels[a] == labels[p] and labels[a] != labels[n]]
triplets = triplets[::7] + [(2, 3, 0), (3, 2, 7), (2, 4, 3)]
A, P, N = (torch.tensor(c) for c in zip(*triplets))
relu = torch.nn.functional.relu


def d2(x, u, v):
    return (x[u] - x[v]).pow(2).sum(1)


def by_triplets(name, alpha, beta):
    def f(x):
        ap, an = d2(x, A, P), d2(x, A, N)
        if name == "L1":
            return relu(ap - an + alpha)
        if name == "L2":
            return relu(ap - an + alpha) + relu(ap - beta)
        return relu(alpha - an) + relu(ap - beta)

    return f


def contrastive(alpha, beta):
    same = labels.view(-1, 1) == labels.view(1, -1)
    a1, p = torch.where(same & ~torch.eye(B, dtype=torch.bool))
    a2, n = torch.where(~same)
    return lambda x: torch.cat([relu(d2(x, a1, p) - beta), relu(alpha - d2(x, a2, n))])


reduce = {"sum": lambda v: v.sum(), "mean": lambda v: v.mean(), "mean-nonzero": lambda v: v.sum() / (v > 0).sum().clamp(min=1)}
cases = []
for alpha, beta in ((1.0, 0.5), (0.75, 0.2), (4.0, 0.01)):
    for name in ("L1", "L2", "L3", "pairs"):
        for r, f in reduce.items():
            if name == "pairs" and r != "sum":
                continue
            x = z.clone().requires_grad_(True)
            v = f(contrastive(alpha, beta)(x) if name == "pairs" else by_triplets(name, alpha, beta)(x))
            v.backward()
            cases.append({"loss": name, "alpha": alpha, "beta": beta, "reduce": r, "value": v.item(), "gradient": x.grad.flatten().tolist()})
json.dump({"rows": B, "cols": D, "z": z.flatten().tolist(), "labels": labels.tolist(), "triplets": triplets, "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
