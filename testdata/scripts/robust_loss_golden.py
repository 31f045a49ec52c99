#!/usr/bin/env python3
"""Golden values of the noise-robust triplet loss in internal/engine/loss, from PyTorch.

    python3 testdata/scripts/robust_loss_golden.py internal/engine/loss/testdata/robust.json

Made with torch 1.13.1 in float64, by autograd. Embeddings come from an integer formula and are exact in float32; row 3
equals row 2. D = d(a,p) - d(a,n), with squared distances or torch's pairwise_distance (eps 1e-6). Forms: the paper's eq. 4
as printed, the backward correction, the odd loss, the sigmoid. mean-nonzero divides by the triplets whose slope in D is
not 0.
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


def distance(name, x, u, v):
    if name == "squared":
        return (x[u] - x[v]).pow(2).sum(1)
    return torch.nn.functional.pairwise_distance(x[u], x[v])


def value(form, d, alpha, w1, w2, temperature):
    if form == "expected":
        return relu(w1 * (alpha + d)) + relu(w2 * (alpha - d))
    if form == "backward":
        return (w1 * relu(alpha + d) - w2 * relu(alpha - d)) / (w1 * w1 - w2 * w2)
    if form == "odd":
        return relu(alpha + d) - relu(alpha - d)
    return torch.sigmoid(d / temperature)


cases = []
for alpha, w1, w2, temperature, normalize in ((0.2, 0.8112, 0.0112, 0.2, False), (1.0, 0.5, 0.25, 1.0, True), (0.5, 0.7, 0.0, 0.05, True)):
    for form in ("expected", "backward", "odd", "sigmoid"):
        for name in ("squared", "euclidean"):
            for r in ("sum", "mean-nonzero") if form == "expected" and w2 == 0 else ("sum",) if alpha == 0.2 else ("mean",):
                x = z.clone().requires_grad_(True)
                d = distance(name, x, A, P) - distance(name, x, A, N)
                v = value(form, d, alpha, w1, w2, temperature)
                if normalize and form != "backward":
                    v = v / (w1 - w2)
                active = int((torch.autograd.grad(v.sum(), d, retain_graph=True)[0] != 0).sum())
                v = v.sum() / {"sum": 1, "mean": len(triplets), "mean-nonzero": active}[r]
                v.backward()
                cases.append({"form": form, "distance": name, "alpha": alpha, "w1": w1, "w2": w2, "temperature": temperature,
                              "normalize": normalize, "reduce": r, "value": v.item(), "active": active, "gradient": x.grad.flatten().tolist()})
json.dump({"rows": B, "cols": D, "z": z.flatten().tolist(), "triplets": triplets, "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
