#!/usr/bin/env python3
"""Independent check of the embedding-shift attack, in PyTorch and NumPy.

    tercet attack --run runs/mnist-c2f2 --queries 128 --save-images /tmp/es
    python3 testdata/scripts/check_es.py runs/mnist-c2f2 /tmp/es

It reads the checkpoint's weights with a parser of its own, rebuilds c2f2 in
PyTorch, and compares: the clean embeddings with Tercet's gallery; the scores of
Tercet's adversarial images; and an attack of its own (robrank's semantics: sign
steps, last iterate, nudge 1e-7 at iteration 0, pairwise_distance with eps 1e-6)
with Tercet's: by its scores, and with `--steps 1` pixel by pixel. Exit status 1
if anything disagrees.
"""
import json, struct, sys
import numpy as np
import torch
import torch.nn.functional as F


def tensors(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + n])
    meta = head.pop("__metadata__")
    data = raw[8 + n :]
    return {k: np.frombuffer(data[v["data_offsets"][0] : v["data_offsets"][1]], "<f4").reshape(v["shape"]).copy() for k, v in head.items()}, meta


run, folder = sys.argv[1], sys.argv[2]
w, meta = tensors(run + "/checkpoints/last.safetensors")
model = {k.lower(): v for k, v in json.loads(meta["model"]).items()}
assert model["name"] == "c2f2" and model["normalize"], model
t = lambda k: torch.from_numpy(w["model/" + k])
conv = lambda k: t(k + ".weight").permute(3, 2, 0, 1).contiguous()  # (KH, KW, C, O) to (O, C, KH, KW)


def embed(x):  # x (B, H, W, 1)
    x = x.permute(0, 3, 1, 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, conv("conv1"), t("conv1.bias"), padding=2)), 2)
    x = F.max_pool2d(F.relu(F.conv2d(x, conv("conv2"), t("conv2.bias"), padding=2)), 2)
    x = x.permute(0, 2, 3, 1).flatten(1)  # NHWC order
    x = F.relu(x @ t("fc1.weight") + t("fc1.bias"))
    return F.normalize(x @ t("fc2.weight") + t("fc2.bias"))


clean, adv, gallery = (torch.from_numpy(np.load(f"{folder}/{n}.npy")) for n in ("clean", "adversarial", "gallery"))
queries, labels = np.load(folder + "/queries.npy"), np.load(folder + "/labels.npy")
opts = json.load(open(run + "/attack.json"))["options"]
scores = json.load(open(run + "/attack.json"))["scores"]
eps, step, steps, batch = opts["eps"], opts["step"], opts["iterations"], opts["batch"]
ok = True


def say(what, good, text):
    global ok
    ok &= bool(good)
    print(("ok   " if good else "FAIL ") + what + ": " + text)


with torch.no_grad():
    d = (embed(clean) - gallery[queries]).abs().max().item()
say("clean embeddings", d < 1e-5, f"largest difference from the gallery {d:.2e}")
ball = (adv - clean).abs().max().item()
say("ball and box", ball <= eps + 1e-6 and adv.min() >= 0 and adv.max() <= 1, f"|delta|inf {ball:.6f}, eps {eps:.6f}")

mine, before_last = [], []
for lo in range(0, len(clean), batch):
    x0 = clean[lo : lo + batch]
    with torch.no_grad():
        z0 = embed(x0)
    x = x0.clone()
    for i in range(steps):
        x.requires_grad_(True)
        z = embed(x)
        if i == steps - 1:
            before_last.append(F.pairwise_distance(z, z0).detach())
        target = z0 + 1e-7 if i == 0 else z0
        loss = -F.pairwise_distance(z, target).sum()
        g, = torch.autograd.grad(loss, x)
        with torch.no_grad():
            x = (x - step * g.sign())
            x = torch.min(torch.max(x, x0 - eps), x0 + eps).clamp(0, 1)
    mine.append(x.detach())
mine = torch.cat(mine)


def recall(x):
    with torch.no_grad():
        z = embed(x).double()
        dist = torch.cdist(z, gallery.double())
    dist[torch.arange(len(queries)), torch.from_numpy(queries).long()] = np.inf  # own copy, by index
    near = dist.argmin(1).numpy()
    return (labels[near] == labels[queries]).mean(), (z - gallery[queries].double()).norm(dim=1)


r_theirs, s_theirs = recall(adv)
r_mine, s_mine = recall(mine)
fixed = {k: v["value"] for k, v in scores["fixed"].items()}
published = {k: v["value"] for k, v in scores["published"].items()}
say("ES:R of Tercet's images", abs(r_theirs - fixed["ES:R"]) < 1e-9, f"PyTorch {r_theirs:.4f}, Tercet {fixed['ES:R']:.4f}")
say("ES:D of Tercet's images", abs(s_theirs.mean() - fixed["ES:D"]) < 1e-4, f"PyTorch {s_theirs.mean():.5f}, Tercet {fixed['ES:D']:.5f}")
say("ES:R of PyTorch's attack", abs(r_mine - fixed["ES:R"]) <= 0.02, f"{r_mine:.4f}")
say("ES:D of PyTorch's attack", abs(s_mine.mean() - fixed["ES:D"]) < 0.01, f"{s_mine.mean():.5f}")
pub = torch.stack([b.mean() for b in before_last]).mean().item()
say("published ES:D (iterate 31)", abs(pub - published["ES:D"]) < 0.01, f"PyTorch {pub:.5f}, Tercet {published['ES:D']:.5f}")
same = ((mine - adv).abs() < 1e-5).float().mean().item()
if steps == 1:
    say("pixels equal after one step", same > 0.99, f"{100 * same:.2f} %")
else:  # the sign of a gradient near 0 depends on the order of float32 sums, and what follows on it
    print(f"note pixels equal after all {steps} steps: {100 * same:.2f} %")
sys.exit(0 if ok else 1)
