#!/usr/bin/env python3
"""Golden passes of networks in bfloat16 (BF16 of internal/engine/nn), from PyTorch, with bounds for the differences.

    python3 testdata/scripts/bf16_golden.py internal/engine/nn/testdata/bf16.json

Made with torch 1.13.1. Products are of numbers rounded to torch.bfloat16, and are summed in float64; so are the
gradients, which autograd takes back through the same layers. Rounding is a function of its own in both directions:
activations and weights are rounded before a product, the gradient of a product's result before it is multiplied.

A program that sums n products in float32, in any order, differs by at most e = (n + 2) u S, with u = 2^-24 and S the
sum of magnitudes, bias included (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2; products
of two numbers of bfloat16 are exact in float32). The script computes e for each number. It takes only images where no
e decides anything: every number v is rounded to the same bfloat16 as v - e and v + e, each ReLU and the largest number
of each window that matters are the same, too. So all rounded numbers have to be equal, and embeddings and gradients
differ by at most their e, which the file holds.

Networks, images and the gradients of embeddings come from an integer formula; an image is numbers "first" and on of
the formula. Arrays are in Tercet's layout (conv
KH,KW,C,OutC; linear in,out; images NHWC).
"""
import json, math, sys
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
U = 2.0**-24 * (1 + 2.0**-10)  # and what (n u)^2 adds
NETS = {  # image, convolutions (kernel, padding, channels) with ReLU or not, linear layers
    "c2f2": dict(shape=(8, 8, 1), convs=[(5, 2, 4), (5, 2, 6)], relu=True, fc=[10, 5]),
    "wide": dict(shape=(8, 8, 1), convs=[(3, 1, 4), (3, 1, 34)], relu=True, fc=[36, 5]),
    "color": dict(shape=(11, 9, 3), convs=[(3, 1, 6), (2, 0, 5)], relu=False, fc=[12, 7]),
    "mlp": dict(shape=(4, 5, 2), convs=[], relu=True, fc=[34, 6]),
}
IMAGES = 3


def formula(n, seed):
    i = np.arange(n, dtype=np.int64)
    return torch.tensor(((i * 7919 + i * i % 613 * 31 + seed * 104729) % 2003 / 2003).astype(np.float32)).double()


def bf16(x):
    return x.float().bfloat16().double()


class Rounded(torch.autograd.Function):
    """The number in bfloat16; the gradient as it is."""

    @staticmethod
    def forward(ctx, x):
        return bf16(x)

    @staticmethod
    def backward(ctx, g):
        return g


class RoundsGradient(torch.autograd.Function):
    """The number as it is; its gradient in bfloat16."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return bf16(g)


class Close(Exception):
    """A difference within the bounds would decide something."""


def bound(product, x, w, extra=0):
    """What a sum in float32 differs by at most: from the count and the sum of magnitudes of its products."""
    n = product((x != 0).double(), (w != 0).double())
    return (n + 2) * U * (product(x.abs(), w.abs()) + extra)


def require(same):
    if not bool(same.all()):
        raise Close


def require_rounding(v, e, f=lambda v: v):
    require(bf16(f(v - e)) == bf16(f(v + e)))


def network(net):
    c, out, k = NETS[net]["shape"][2], [], 0
    h, w = NETS[net]["shape"][:2]
    for i, (size, pad, o) in enumerate(NETS[net]["convs"]):
        out += [(f"conv{i+1}.weight", (size, size, c, o)), (f"conv{i+1}.bias", (o,))]
        h, w, c = (h + 2 * pad - size + 1) // 2, (w + 2 * pad - size + 1) // 2, o
    n = h * w * c
    for i, o in enumerate(NETS[net]["fc"]):
        out += [(f"fc{i+1}.weight", (n, o)), (f"fc{i+1}.bias", (o,))]
        n = o
    params = {}
    for k, (name, shape) in enumerate(out):
        scale = 3 / math.sqrt(math.prod(shape[:-1])) if len(shape) > 1 else 0.2
        params[name] = ((formula(math.prod(shape), 100 + k) - 0.5) * scale).float().double().reshape(shape)
    return params


def embed(net, params, x):
    """One image's embedding, its bound, and per product what backward needs to be checked."""
    spec, backs = NETS[net], []
    y = x.permute(2, 0, 1)[None]
    for i, (size, pad, o) in enumerate(spec["convs"]):
        w = bf16(params[f"conv{i+1}.weight"]).permute(3, 2, 0, 1)
        b = params[f"conv{i+1}.bias"][:, None, None]
        product = lambda a, b, pad=pad: F.conv2d(a, b, padding=pad)
        a = Rounded.apply(y)
        s = RoundsGradient.apply(product(a, w))
        s.retain_grad()
        backs.append((s, lambda g, w, pad=pad: F.conv_transpose2d(g, w, padding=pad), w, a))
        with torch.no_grad():
            e = bound(product, a, w)
            check_windows(s, e, b, spec["relu"])
            e = F.max_pool2d(e, 2) + U * (F.max_pool2d(s.abs(), 2) + b.abs())
        y = F.max_pool2d(s, 2) + b
        f = F.relu if spec["relu"] else (lambda v: v)
        with torch.no_grad():
            require_rounding(y, e, f)
        y = f(y)
    y = y.permute(0, 2, 3, 1).reshape(1, -1)  # rows flatten as H, W, C
    for i, o in enumerate(spec["fc"]):
        w, b = bf16(params[f"fc{i+1}.weight"]), params[f"fc{i+1}.bias"]
        a = Rounded.apply(y)
        s = RoundsGradient.apply(a @ w)
        s.retain_grad()
        backs.append((s, lambda g, w: g @ w.t(), w, a))
        y = s + b
        with torch.no_grad():
            e = bound(torch.matmul, a, w, b.abs())
            if i + 1 < len(spec["fc"]):
                require_rounding(y, e, F.relu)
        if i + 1 < len(spec["fc"]):
            y = F.relu(y)
    return y, e, backs


def check_windows(s, e, b, relu):
    """The largest number of each window of two by two is that of all sums within e, but where ReLU makes it 0."""
    split = lambda v: F.unfold(v.transpose(0, 1), 2, stride=2)  # (channels, 4, windows)
    h, w = s.shape[2] // 2 * 2, s.shape[3] // 2 * 2
    v, d = split(s[:, :, :h, :w]), split(e[:, :, :h, :w])
    best = v.argmax(1, keepdim=True)
    least = (v - d).gather(1, best)
    most = (v + d).scatter(1, best, -math.inf).amax(1, keepdim=True)
    off = (v + d).amax(1, keepdim=True) + b.reshape(-1, 1, 1) < 0
    require((least > most) | (off if relu else torch.zeros_like(off)))


def case(net, params, first, dz):
    """An image's embedding and input gradient, with the bounds."""
    shape = NETS[net]["shape"]
    x = formula(first + math.prod(shape), 60)[first:].reshape(shape).requires_grad_(True)
    z, e, backs = embed(net, params, x)
    z.backward(dz[None])
    for i, (s, product, w, a) in reversed(list(enumerate(backs))):
        g = bf16(s.grad)
        d = bound(product, g, w)
        if i > 0:  # rounded again before the next product, where ReLU let the number pass
            passed = (a != 0).double() if NETS[net]["relu"] or i > len(NETS[net]["convs"]) else 1
            require_rounding(product(g, w) * passed, d * passed)
    d = (d[0].permute(1, 2, 0) if d.dim() == 4 else d).flatten()
    return {"first": first, "z": z[0].tolist(), "z_error": e[0].tolist(), "dx": x.grad.flatten().tolist(), "dx_error": d.tolist()}


doc = {"torch": torch.__version__, "nets": {}}
for net, spec in NETS.items():
    params, images, first = network(net), [], 0
    dz = (formula(spec["fc"][-1], 7) - 0.5).float().double()
    while len(images) < IMAGES:
        first += 1
        try:
            images.append(case(net, params, first, dz))
        except Close:
            pass
    print(net, [c["first"] for c in images], "largest bound relative to the largest number: z %.1e, dx %.1e" % tuple(
        max(max(c[k + "_error"]) / max(map(abs, c[k])) for c in images) for k in ("z", "dx")))
    up = lambda e: float("%.2e" % (e * 1.005))  # rounded up
    for c in images:
        for k in ("z", "dx"):
            c[k], c[k + "_error"] = [float("%.9g" % v) for v in c[k]], [up(e + 1e-9 * abs(v)) for e, v in zip(c[k + "_error"], c[k])]
    doc["nets"][net] = {"shape": list(spec["shape"]), "convs": spec["convs"], "relu": spec["relu"], "fc": spec["fc"], "images": images}
json.dump(doc, open(sys.argv[1], "w"), separators=(",", ":"))
