#!/usr/bin/env python3
"""Golden training steps of the defenses of internal/engine/adversary, from PyTorch.

    python3 testdata/scripts/defense_golden.py internal/engine/adversary/testdata/golden.json

Made with torch 1.13.1 in float64, from the definitions (Zhou et al., ECCV 2020; Zhou & Patel, CVPR 2022, with
supplement), published (pairwise_distance's 1e-6 inside, a single step of length eps, HM's first loss 2) and paper
(plain distances, HM's first loss 2 + gamma). A small c2f2 gets parameters and six images of three classes from an
integer formula. Stored: crafted images (rows in Tercet's order), the triplet loss of margin 0.2 on them, the
penalty, and the gradients of the first and the last layer, in Tercet's layout. EST's nudges are those that
Tercet draws for seed 5, step 3, ids 100, 107, ...; the Go test compares them too.
"""
import json, sys
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
EPS, ALPHA, GAMMA = 0.025, 0.01, 0.2
SHAPES = [("conv1.weight", (5, 5, 1, 4)), ("conv1.bias", (4,)), ("conv2.weight", (5, 5, 4, 6)), ("conv2.bias", (6,)),
          ("fc1.weight", (24, 10)), ("fc1.bias", (10,)), ("fc2.weight", (10, 5)), ("fc2.bias", (5,))]
TRIPLETS = [(0, 1, 2), (2, 3, 5), (4, 5, 0), (1, 0, 5)]
NUDGES = [[0, -1, 0, 0, 0], [-1, -1, 1, 1, -1], [1, -1, 0, -1, 1], [0, -1, 1, -1, -1], [-1, -1, -1, 1, 1], [0, 1, -1, 1, 1]]


def formula(n, seed):
    i = np.arange(n, dtype=np.int64)
    return torch.tensor(((i * 7919 + i * i % 613 * 31 + seed * 104729) % 2003 / 2003).astype(np.float32)).double()


def parameters():
    out = {}
    for k, (name, shape) in enumerate(SHAPES):
        v = formula(int(np.prod(shape)), 100 + k) - 0.5
        out[name] = (v * (0.05 if name.endswith("bias") else 1)).float().double().reshape(shape).requires_grad_(True)
    return out


def images():
    rows = []
    for i in range(6):
        pattern = (formula(64, 50 + i // 2) > 0.5).double()
        rows.append(0.15 + 0.5 * pattern + 0.3 * formula(64, 60 + i))
    return torch.stack(rows).float().double().reshape(6, 8, 8, 1)


def embed(w, x):
    x = x.permute(0, 3, 1, 2)
    for c in ("conv1", "conv2"):
        x = F.max_pool2d(F.relu(F.conv2d(x, w[c + ".weight"].permute(3, 2, 0, 1), w[c + ".bias"], padding=2)), 2)
    x = F.relu(x.permute(0, 2, 3, 1).flatten(1) @ w["fc1.weight"] + w["fc1.bias"])
    return F.normalize(x @ w["fc2.weight"] + w["fc2.bias"])


def dist(x, y, eps):
    return (x - y + eps).norm(dim=1)


def descend(w, clean, objective, steps, tolerance=0):
    x, last = clean.clone(), None
    for t in range(steps):
        x = x.detach().requires_grad_(True)
        value = objective(embed(w, x), t)
        g, = torch.autograd.grad(value, x)
        step = ALPHA if steps > 1 else EPS
        x = torch.min(torch.max(x - step * g.sign(), clean - EPS), clean + EPS).clamp(0, 1)
        if last is not None and abs(value.item() - last) < tolerance:
            break
        last = value.item()
    return x.detach()


def thirds(z):
    n = len(z) // 3
    return z[:n], z[n : 2 * n], z[2 * n :]


def record(w, x, triplets, penalty=None):
    for p in w.values():
        p.grad = None
    z = embed(w, x)
    a, p, n = (z[[t[k] for t in triplets]] for k in range(3))
    loss = F.triplet_margin_loss(a, p, n, margin=GAMMA, eps=1e-6)
    extra = penalty(z) if penalty else torch.zeros(())
    (loss + extra).backward()
    short = lambda v: [round(float(u), 8) for u in v.detach().flatten()]
    return {"images": short(x), "loss": loss.item(), "penalty": extra.item(), "hardness": (dist(a, p, 0) - dist(a, n, 0)).mean().item(),
            "grads": {k: short(w[k].grad) for k in ("conv1.weight", "fc2.weight", "fc2.bias")}}


def case(name, published, steps):
    """One training step, or two for HM: the second one's destination follows the first one's loss."""
    w, x = parameters(), images()
    eps = 1e-6 if published else 0.0
    a, p, n = (x[[t[k] for t in TRIPLETS]] for k in range(3))
    k = len(TRIPLETS)
    rows = [(i, k + i, 2 * k + i) for i in range(k)]
    if name == "est":
        with torch.no_grad():
            z0 = embed(w, x)
        # the nudge takes the place of z - z0, which is 0 at the first iterate
        goal = lambda z, t: -((z - z0) + (1e-7 * torch.tensor(NUDGES) if t == 0 else 0) + eps).norm(dim=1).mean()
        return [record(w, descend(w, x, goal, steps), TRIPLETS)]
    if name == "act":
        made = descend(w, torch.cat([p, n]), lambda z, t: dist(z[:k], z[k:], eps).mean(), steps)
        return [record(w, torch.cat([a, made]), rows)]
    if name == "minmax":
        def goal(z, t):
            a, p, n = thirds(z)
            return (dist(a, n, eps) - dist(a, p, eps)).mean()
        return [record(w, descend(w, torch.cat([a, p, n]), goal, steps), rows)]
    if name == "minmax-fixed-anchor":
        with torch.no_grad():
            za = embed(w, a)
        made = descend(w, torch.cat([p, n]), lambda z, t: (dist(za, z[k:], eps) - dist(za, z[:k], eps)).mean(), steps)
        return [record(w, torch.cat([a, made]), rows)]
    out, before, u = [], 2.0 if published else 2 + GAMMA, GAMMA if published else 2 + GAMMA
    for _ in range(2):
        wanted = -GAMMA * min(before, u) / u
        def goal(z, t):
            a, p, n = thirds(z)
            return (dist(a, p, eps) - dist(a, n, eps) - wanted).clamp(max=0).square().mean()
        made = descend(w, torch.cat([a, p, n]), goal, steps, 1e-7 if published else 0)
        ics = lambda z: 0.5 * (dist(z[3 * k : 4 * k], z[:k], eps) - dist(z[3 * k : 4 * k], z[4 * k :], eps)).relu().mean()
        r = record(w, torch.cat([made, a, p]), rows, ics)
        r["wanted"], before = wanted, r["loss"]
        out.append(r)
    return out


doc = {"torch": torch.__version__, "nudges": sum(NUDGES, []), "cases": []}
for name, steps in (("est", 3), ("est", 1), ("act", 3), ("act", 1), ("minmax", 3), ("minmax-fixed-anchor", 3), ("hm", 3)):
    for variant in ("published", "paper"):
        if variant == "paper" and name not in ("est", "hm") or steps == 1 and variant == "paper":
            continue
        c = case(name, variant == "published", steps)
        doc["cases"].append({"name": name, "implementation": "robrank" if variant == "published" else variant, "steps": steps, "crafts": c})
        print(name, variant, steps, [{k: round(r[k], 4) for k in ("loss", "penalty", "hardness")} for r in c])
json.dump(doc, open(sys.argv[1], "w"), separators=(",", ":"))
