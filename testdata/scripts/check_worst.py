"""An independent check of a worst case with PyTorch, in float64.

    tercet attack --run RUN --suite worst --gallery full,prototype --save-images SAVED
    tercet export torch RUN --out EXPORTED
    python3 testdata/scripts/check_worst.py SAVED EXPORTED EPS [linf|l2]

Embeds all images kept with the exported network, and says for how many queries the first
row agrees with Tercet: wrong where a query is broken, right where the clean image of one
that is not broken is searched. It reads nothing of Tercet's but the arrays.
"""
import importlib.util
import os
import sys

import numpy as np
import torch

saved, exported, eps = sys.argv[1], sys.argv[2], eval(sys.argv[3])
norm = sys.argv[4] if len(sys.argv) > 4 else "linf"
spec = importlib.util.spec_from_file_location("model", os.path.join(exported, "model.py"))
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
cwd = os.getcwd()
os.chdir(exported)
model = module.load().double().eval()
os.chdir(cwd)


def read(name):
    return np.load(os.path.join(saved, name + ".npy"))


queries, labels, clean = read("queries"), read("labels"), read("clean").astype(np.float64)
gallery = torch.from_numpy(read("gallery").astype(np.float64))
own = labels[queries]


def embed(x):
    with torch.no_grad():
        return torch.cat([model(b) for b in torch.from_numpy(x.astype(np.float64)).permute(0, 3, 1, 2).split(64)])


def first_full(z, i):
    d = (gallery - z).pow(2).sum(1)
    d[queries[i]] = np.inf
    return labels[int(d.argmin())]


def first_prototype(z, i):
    best, label = np.inf, None
    for c in np.unique(labels):
        rows = labels == c
        rows[queries[i]] = False
        mean = gallery[torch.from_numpy(rows)].sum(0)
        d = float((mean / mean.norm() - z).pow(2).sum())
        if d < best:
            best, label = d, c
    return label


bad = 0
for name, first in (("full", first_full), ("prototype", first_prototype)):
    if not os.path.exists(os.path.join(saved, f"broken_by_{name}.npy")):
        continue
    by, adv = read("broken_by_" + name), read("adversarial_" + name).astype(np.float64)
    z, z0 = embed(adv), embed(clean)
    agree = 0
    for i in range(len(queries)):
        delta = adv[i] - clean[i]
        size = np.abs(delta).max() if norm == "linf" else np.sqrt((delta**2).sum())
        inside = size <= eps * (1 + 1e-6) + 1e-7 and adv[i].min() >= 0 and adv[i].max() <= 1
        right = first(z[i], i) == own[i]
        clean_right = first(z0[i], i) == own[i]
        agree += inside and right == (by[i] == 0) and clean_right == (by[i] != 1)
    bad += len(queries) - agree
    print(f"{name}: {agree} of {len(queries)} queries agree, {int((by > 0).sum())} broken")
sys.exit(1 if bad else 0)
