#!/usr/bin/env python3
"""Golden training steps of internal/engine/nn and internal/engine/optim, from PyTorch.

    python3 testdata/scripts/nn_golden.py internal/engine/nn/testdata/golden.json

Made with torch 1.13.1, float32, one thread. Two nets (a small c2f2 and a small residual net with batch norm in
training mode) get parameters and images from an integer formula, one batch of six images, and the loss
mean over triplets (3i, 3i+1, 3i+2) of |a-p|^2 - |a-n|^2 on L2-normalized embeddings. Stored: embeddings, loss,
the gradient of the images and of every parameter, then parameters, running statistics and losses after ten steps
of each optimizer on that batch. Arrays are in Tercet's layout (conv KH,KW,C,OutC; linear in,out; images NHWC).
"""
import json, sys
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False


def formula(n, seed):
    i = np.arange(n, dtype=np.int64)
    return ((i * 7919 + i * i % 613 * 31 + seed * 104729) % 2003).astype(np.float64) / 2003


class C2F2(nn.Module):
    shape, seed = (6, 8, 8, 1), 1

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 4, 5, padding=2), nn.Conv2d(4, 6, 5, padding=2)
        self.fc1, self.fc2 = nn.Linear(24, 10), nn.Linear(10, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.permute(0, 2, 3, 1).reshape(len(x), -1)  # rows flatten as H, W, C
        return F.normalize(self.fc2(F.relu(self.fc1(x))))


class Res(nn.Module):
    shape, seed = (6, 9, 9, 3), 2

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.block = nn.ModuleDict({
            "conv1": nn.Conv2d(4, 6, 3, stride=2, padding=1, bias=False), "bn1": nn.BatchNorm2d(6),
            "conv2": nn.Conv2d(6, 6, 3, padding=1, bias=False), "bn2": nn.BatchNorm2d(6),
            "down0": nn.Conv2d(4, 6, 1, stride=2, bias=False), "down1": nn.BatchNorm2d(6)})
        self.fc = nn.Linear(6, 5)

    def forward(self, x):
        b = self.block
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        y = b["bn2"](b["conv2"](F.relu(b["bn1"](b["conv1"](x)))))
        x = F.relu(y + b["down1"](b["down0"](x)))
        return F.normalize(self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)))


def short(t):
    return [float(str(v)) for v in t.detach().flatten().numpy()]  # shortest decimals that give the same float32


def ours(t):
    t = t.detach()
    if t.dim() == 4:
        t = t.permute(2, 3, 1, 0)
    elif t.dim() == 2:
        t = t.t()
    return short(t.contiguous())


def theirs(v, shape):
    if len(shape) == 4:
        return v.reshape(shape[2], shape[3], shape[1], shape[0]).permute(3, 2, 0, 1)
    if len(shape) == 2:
        return v.reshape(shape[1], shape[0]).t()
    return v


def make(cls):
    m = cls()
    with torch.no_grad():
        for k, (name, p) in enumerate(m.named_parameters()):
            v = torch.tensor((formula(p.numel(), 100 * cls.seed + k) - 0.5).astype(np.float32))
            if name.split(".")[-2].startswith("bn") or "down1" in name:
                v = v + 1 if name.endswith("weight") else v
            p.copy_(theirs(v, p.shape))
    x = torch.tensor(formula(int(np.prod(cls.shape)), cls.seed).astype(np.float32)).reshape(cls.shape)
    return m.train(), x


def loss_of(z):
    a, p, n = z[0::3], z[1::3], z[2::3]
    return ((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1)).mean()


OPT = {
    "sgd": lambda ps: torch.optim.SGD(ps, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adam": lambda ps: torch.optim.Adam(ps, lr=0.001, weight_decay=0.01),
    "adamw": lambda ps: torch.optim.AdamW(ps, lr=0.001, weight_decay=0.01),
}

doc = {"torch": torch.__version__, "nets": {}}
for name, cls in (("c2f2", C2F2), ("res", Res)):
    m, x = make(cls)
    x.requires_grad_(True)
    z = m(x.permute(0, 3, 1, 2))
    loss = loss_of(z)
    loss.backward()
    net = {"shape": list(cls.shape), "seed": cls.seed, "params": [n for n, _ in m.named_parameters()],
           "embeddings": short(z), "loss": loss.item(), "dx": short(x.grad),
           "grads": {n: ours(p.grad) for n, p in m.named_parameters()}, "runs": {}}
    for opt, f in OPT.items():
        m, x = make(cls)
        o, losses = f(m.parameters()), []
        for _ in range(10):
            o.zero_grad()
            l = loss_of(m(x.permute(0, 3, 1, 2)))
            l.backward()
            o.step()
            losses.append(l.item())
        values = {n: ours(p) for n, p in m.named_parameters()}
        values.update({n: ours(b) for n, b in m.named_buffers() if "running" in n})
        net["runs"][opt] = {"losses": losses, "values": values}
    doc["nets"][name] = net
json.dump(doc, open(sys.argv[1], "w"), separators=(",", ":"))
