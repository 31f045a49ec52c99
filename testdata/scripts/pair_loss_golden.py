#!/usr/bin/env python3
"""Golden values of the pair losses in internal/engine/loss, from PyTorch.

    python3 testdata/scripts/pair_loss_golden.py internal/engine/loss/testdata/pairs.json

Made with torch 1.13.1 in float64. Embeddings come from an integer formula and are exact in float32; row 3 equals
row 2 and row 4 is 0. cosine: torch.nn.CosineEmbeddingLoss. contrastive: y d^2 + (1-y) max(0, m-d)^2 by autograd with
d = sqrt(|x-y|^2 + 1e-12). paper: the cosine loss on s = cos(cos), DIBS eq. 21 as printed. Each with the loss and its
gradient, for the reductions mean and sum.
"""
import json, sys
import torch

B, D = 9, 7
i = torch.arange(B).view(-1, 1)
k = torch.arange(D).view(1, -1)
z = (((i * i * 29 + 13 * i * k + 7 * k + 5 * i) % 23).double() / 16 - 0.75) * 0.5
z[3] = z[2]
z[4] = 0
pairs = [(0, 1, 1), (2, 3, 1), (2, 3, 0), (4, 5, 1), (4, 6, 0), (7, 8, 0), (0, 5, 0), (1, 0, 0), (6, 6, 1), (8, 2, 1), (3, 7, 0), (5, 1, 0)]
u, v, y = (torch.tensor([p[j] for p in pairs]) for j in range(3))


def cosine(margin, reduction):
    f = torch.nn.CosineEmbeddingLoss(margin=margin, reduction=reduction)
    return lambda z: f(z[u], z[v], 2 * y - 1)


def paper(margin, reduction):
    def f(z):
        a, b = z[u], z[v]
        c = (a * b).sum(1) / (((a * a).sum(1) + 1e-12) * ((b * b).sum(1) + 1e-12)).sqrt()
        s = torch.cos(c)
        return getattr(y * (1 - s) + (1 - y) * (s - margin).clamp(min=0), reduction)()

    return f


def contrastive(margin, reduction):
    def f(z):
        q = (z[u] - z[v]).pow(2).sum(1)
        return getattr(y * q + (1 - y) * (margin - (q + 1e-12).sqrt()).clamp(min=0) ** 2, reduction)()

    return f


cases = []
for name, make, margins in (("cosine", cosine, (0.5, 0.2, -0.25)), ("paper", paper, (0.5, 0.9)), ("contrastive", contrastive, (1.0, 0.6, 3.0))):
    for margin in margins:
        for reduction in ("mean", "sum"):
            x = z.clone().requires_grad_(True)
            loss = make(margin, reduction)(x)
            loss.backward()
            cases.append({"loss": name, "margin": margin, "reduce": reduction, "value": loss.item(), "gradient": x.grad.flatten().tolist()})
json.dump({"rows": B, "cols": D, "z": z.flatten().tolist(), "pairs": pairs, "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
