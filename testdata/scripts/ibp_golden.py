#!/usr/bin/env python3
"""Golden values of training with interval bounds (defense ibp of internal/engine/adversary), from PyTorch.

    python3 testdata/scripts/ibp_golden.py internal/engine/adversary/testdata/ibp.json

Made with torch 1.13.1 in float64, from the definition (Gowal et al., 2018, arXiv 1810.12715, for triplets): the mean
over triplets of max(0, margin - 2 (min <u, z_p - z_n> / |u| - c)) over the images within eps of the anchor, by
intervals, the last linear layer and z_p - z_n taken as one; z are the clean embeddings, without gradient. Gradients
are autograd's. Networks small and lenet get parameters and six images from an integer formula. Stored: the mean, the
gradients of short parameters, and of the others the product with a vector of the formula.
"""
import json, math, sys
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
TRIPLETS = [(0, 1, 2), (2, 3, 0), (2, 3, 5), (5, 4, 2), (1, 0, 4)]
NETS = {  # side, shapes in Tercet's layout
    "small": (12, [("conv1.weight", (4, 4, 1, 16)), ("conv1.bias", (16,)), ("conv2.weight", (4, 4, 16, 32)), ("conv2.bias", (32,)),
                   ("fc1.weight", (128, 100)), ("fc1.bias", (100,)), ("fc2.weight", (100, 5)), ("fc2.bias", (5,))]),
    "lenet": (16, [("conv1.weight", (5, 5, 1, 20)), ("conv1.bias", (20,)), ("conv2.weight", (5, 5, 20, 50)), ("conv2.bias", (50,)),
                   ("fc1.weight", (50, 500)), ("fc1.bias", (500,)), ("fc2.weight", (500, 5)), ("fc2.bias", (5,))]),
}


def formula(n, seed):
    i = np.arange(n, dtype=np.int64)
    return torch.tensor(((i * 7919 + i * i % 613 * 31 + seed * 104729) % 2003 / 2003).astype(np.float32)).double()


def parameters(shapes):
    out = {}
    for k, (name, shape) in enumerate(shapes):
        n = int(np.prod(shape))
        scale = 3 / math.sqrt(n // shape[-1]) if len(shape) > 1 else 0.2
        out[name] = ((formula(n, 100 + k) - 0.5) * scale).float().double().reshape(shape).requires_grad_(True)
    return out


def linear(w, name, lo, hi):
    """The interval of a linear map, from its middle and half width."""
    mid, half, a = (lo + hi) / 2, (hi - lo) / 2, w[name + ".weight"]
    mid, half = mid @ a + w[name + ".bias"], half @ a.abs()
    return mid - half, mid + half


def conv(w, name, lo, hi, stride):
    mid, half, a = (lo + hi) / 2, (hi - lo) / 2, w[name + ".weight"].permute(3, 2, 0, 1)
    mid, half = F.conv2d(mid, a, w[name + ".bias"], stride=stride), F.conv2d(half, a.abs(), stride=stride)
    return mid - half, mid + half


def features(net, w, lo, hi):
    both = lambda f, pair: (f(pair[0]), f(pair[1]))
    x = both(lambda v: v.permute(0, 3, 1, 2), (lo, hi))
    if net == "small":
        x = both(F.relu, conv(w, "conv1", *x, 2))
        x = both(F.relu, conv(w, "conv2", *x, 1))
    else:
        x = both(lambda v: F.max_pool2d(v, 2), conv(w, "conv1", *x, 1))
        x = both(lambda v: F.max_pool2d(v, 2), conv(w, "conv2", *x, 1))
    x = both(lambda v: v.permute(0, 2, 3, 1).flatten(1), x)
    return both(F.relu, linear(w, "fc1", *x))


def case(net, normalize, eps, margin):
    side, shapes = NETS[net]
    w = parameters(shapes)
    x = torch.stack([1.2 * formula(side * side, 60 + i) - 0.1 for i in range(6)]).clamp(0, 1).float().double().reshape(6, side, side, 1)
    head, bias = w["fc2.weight"], w["fc2.bias"]
    with torch.no_grad():
        z = features(net, w, x, x)[0] @ head + bias
        z = F.normalize(z) if normalize else z
    lo, hi = features(net, w, (x - eps).clamp(min=0), (x + eps).clamp(max=1))
    u = (lo + hi) / 2 @ head + bias
    total = 0
    for a, p, n in TRIPLETS:
        v = z[p] - z[n]
        row = head @ v
        least = torch.minimum(row * lo[a], row * hi[a]).sum() + bias @ v
        if normalize:
            least = least / u[a].norm()
        else:
            least = least - (z[p] @ z[p] - z[n] @ z[n]) / 2
        total = total + (margin - 2 * least).relu()
    worst = total / len(TRIPLETS)
    worst.backward()
    grads, along = {}, {}
    for k, (name, _) in enumerate(shapes):
        g = w[name].grad.flatten()
        along[name] = (g @ (formula(len(g), 300 + k) - 0.5)).item()
        if len(g) <= 500:
            grads[name] = [round(float(v), 9) for v in g]
    return {"net": net, "normalize": normalize, "eps": eps, "margin": margin, "worst": worst.item(), "grads": grads, "along": along}


cases = [case(net, normalize, eps, 1.0) for net in NETS for normalize in (True, False) for eps in (0.01, 0.1)]
for c in cases:
    print(c["net"], c["normalize"], c["eps"], c["worst"])
json.dump({"torch": torch.__version__, "cases": cases}, open(sys.argv[1], "w"), separators=(",", ":"))
