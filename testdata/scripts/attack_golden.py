#!/usr/bin/python3
"""Golden values of the attacks TMA, ES, LTM and GTM as published.

Written from their description (array operations of the official selection
included: ranks of a masked distance matrix, least rank inside the compressed
row) with torch.cdist, pairwise_distance and cosine_similarity, in float64 on
float32 embeddings; gradients by autograd. Run from the repository root:

    /usr/bin/python3 testdata/scripts/attack_golden.py > internal/attack/testdata/published.json

PyTorch 1.13.1, with OPENBLAS_CORETYPE=SKYLAKEX on a processor with AVX-512.
"""
import json
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(20)
FAR = 1e38
EXACT = "donot_use_mm_for_euclid_dist"


def embeddings(n, d, labels, normalised):
    centres = torch.randn(int(labels.max()) + 1, d)
    x = centres[labels] + 1.2 * torch.randn(n, d)
    return (F.normalize(x) if normalised else 2 * x).float()


def gradient(loss, z):
    value = loss(z)
    value.sum().backward()
    g, z.grad = z.grad.clone(), None
    return value.detach().tolist(), g.tolist()


def case(n, d, classes, queries, normalised, duplicates):
    labels = torch.randint(0, classes, (n,))
    labels[: 2 * classes] = torch.arange(2 * classes) % classes
    x = embeddings(n, d, labels, normalised)
    if duplicates:
        x[1] = x[2] = x[0]
    items = torch.randperm(n)[:queries]
    items[:3] = torch.arange(3)
    clean = x[items]
    move = lambda: embeddings(queries, d, labels[items], normalised)
    z, previous = move(), move()
    gallery, wide = x.double(), z.double().requires_grad_()
    q0 = clean.double()
    out = {
        "d": d, "x": x.flatten().tolist(), "labels": labels.tolist(), "items": items.tolist(),
        "z": z.flatten().tolist(), "previous": previous.flatten().tolist(),
    }

    dist = torch.cdist(q0, gallery, compute_mode=EXACT)
    own = torch.tensor([int((row == row.min()).nonzero()[0]) for row in dist])

    # GTM: the place of the least rank among the unmatching items of each row.
    masked = dist.clone()
    masked[range(queries), own] = FAR
    order = torch.stack([row.sort(stable=True).indices for row in masked])
    rank = order.argsort(dim=1)
    top = labels[order[:, 0]]
    targets = torch.stack([rank[i][labels != top[i]].argmin() for i in range(queries)])
    out["gtm_targets"] = targets.tolist()
    out["gtm"], out["gtm_grad"] = gradient(lambda y: F.pairwise_distance(y, gallery[targets]), wide)

    # LTM: the own copy stays among those of its label.
    same = labels.view(1, -1) == labels[items].view(-1, 1)

    def ltm(y):
        dy = torch.cdist(y, gallery, compute_mode=EXACT)
        far = torch.stack([dy[i][~same[i]].max() for i in range(queries)])
        near = torch.stack([dy[i][same[i]].min() for i in range(queries)])
        return (far - near).relu()

    out["ltm"], out["ltm_grad"] = gradient(ltm, wide)
    out["ltm_clean"], out["ltm_clean_grad"] = gradient(ltm, q0.clone().requires_grad_())

    # ES: minus the pairwise distance from the clean embedding, nudged at first.
    out["es_first"], out["es_first_grad"] = gradient(lambda y: -F.pairwise_distance(y, q0 + 1e-7), wide)
    out["es"], out["es_grad"] = gradient(lambda y: -F.pairwise_distance(y, q0), wide)
    out["es_start"], out["es_start_grad"] = gradient(lambda y: -F.pairwise_distance(y, q0 + 1e-7), q0.clone().requires_grad_())
    out["es_d"] = F.pairwise_distance(previous.double(), q0).tolist()

    # TMA: targets are given, since the streams of random numbers differ.
    tma = torch.randint(0, n, (queries,))
    out["tma_targets"] = tma.tolist()
    out["tma"], out["tma_grad"] = gradient(lambda y: 1 - F.cosine_similarity(y, gallery[tma]), wide)
    out["tma_score"] = F.cosine_similarity(z.double(), gallery[tma]).tolist()

    # Recall@1 with the own copy masked, of z and of the clean embeddings.
    for key, y in (("recall", z.double()), ("recall_clean", q0)):
        dy = torch.cdist(y, gallery, compute_mode=EXACT)
        dy[range(queries), own] = FAR
        first = torch.tensor([int((row == row.min()).nonzero()[0]) for row in dy])
        out[key] = (labels[first] == labels[items]).int().tolist()
    return out


def rounded(v):
    if isinstance(v, list):
        return [rounded(u) for u in v]
    return float(f"{v:.12g}") if isinstance(v, float) else v


cases = [case(40, 6, 4, 12, True, False), case(36, 5, 3, 10, False, True), case(30, 16, 6, 10, True, True)]
json.dump([{k: rounded(v) for k, v in c.items()} for c in cases], sys.stdout, separators=(",", ":"))
print()
