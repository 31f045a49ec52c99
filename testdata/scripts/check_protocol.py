"""Checks the first 20 training steps of a protocol, and what comes before and after them, with PyTorch.

    make check-protocol      (testdata/scripts/check_protocol.py bin/tercet FOLDER [NETWORK...])

The protocol is configs/protocols/zhou-patel/cub.yaml at full image size, on a tree of CUB's layout with 8 pairs a batch,
random weights that torch.save wrote, and a margin of 1, since images of a class are so similar that 0.2 is soon
reached. FOLDER has that tree and plan.json, which TestProtocolPlan of internal/wire wrote: the files of each batch, their boxes and mirrors, the triplets. All else is done here by Pillow, torchvision and
torch.optim.Adam: decode, resize, normalize, ResNet with stored statistics of batch norm, triplet loss, update.

Compared are the embeddings of the test images before training, and in each step the loss and the mean distances of
positives and negatives: all within 1e-4 relative on PNG files of the same pixels, of ResNet-50 in the steps HELD. Differences of embeddings after
training, and all those on the JPEG files, which two decoders read, are printed alone.
"""
import csv
import glob
import json
import os
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
import torchvision.transforms.functional as TF
from PIL import Image

tercet, folder, networks = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or ["resnet18"]
LIMIT = 1e-4
HELD = {"resnet50": 5}  # steps that are held to the limit, of others all 20: later ones drift apart, see docs/protocols.md
PRESET = os.path.abspath("configs/protocols/zhou-patel/cub.yaml")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
torch.set_num_threads(2)
plan = json.load(open(f"{folder}/plan.json"))


def sh(*args):
    r = subprocess.run([tercet, *args], cwd=folder, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{' '.join(args)}: {r.returncode}\n{r.stderr}")
    return r.stdout


def tensor(img):
    return TF.normalize(TF.to_tensor(img), MEAN, STD)


def squashed(path):
    return TF.resize(Image.open(path).convert("RGB"), [256, 256])


def of_plan(i):
    img = TF.crop(squashed(i["file"]), i["top"], i["left"], 224, 224)
    return tensor(TF.hflip(img) if i["flip"] else img)


def embedded(net, files):
    net.eval()
    with torch.no_grad():
        x = torch.stack([tensor(TF.center_crop(squashed(f), [224, 224])) for f in files])
        return torch.cat([F.normalize(net(part)) for part in x.split(16)]).numpy()


def start(name, path):
    """Random weights. Stored statistics are those of the tree, so that embeddings differ; branches are small next to
    their shortcuts, as in trained networks, so that rounding does not grow from step to step."""
    torch.manual_seed(7)
    net = getattr(torchvision.models, name)(num_classes=512)
    last = "bn3.weight" if name == "resnet50" else "bn2.weight"
    for key, v in net.named_parameters():
        if key.startswith("layer") and key.endswith(last):
            torch.nn.init.uniform_(v, 0.1, 0.3)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.momentum = None
            m.reset_running_stats()
    net.train()
    with torch.no_grad():
        for step in plan["steps"][:3]:
            net(torch.stack([of_plan(i) for i in step["images"]]))
    torch.save(net.state_dict(), path)
    return net


def steps(net, count):
    """The loss and the mean distances of each step, as Tercet's events have them."""
    net.eval()  # stored statistics; weight and bias of batch norm are trained
    adam = torch.optim.Adam(net.parameters(), lr=1e-5, weight_decay=4e-4)
    for step in plan["steps"][:count]:
        z = F.normalize(net(torch.stack([of_plan(i) for i in step["images"]])))
        a, p, n = (z[list(rows)] for rows in zip(*step["triplets"]))
        loss = F.triplet_margin_loss(a, p, n, margin=1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        yield [float(loss), float(F.pairwise_distance(a, p).mean()), float(F.pairwise_distance(a, n).mean())]


def train(run, sets):
    """The folder of a run of the preset with changes."""
    sets = plan["sets"] + ["sweep.seed=[0]", "eval.baselines=false", f"name={run}"] + sets
    sh("train", PRESET, "--quiet", *[a for s in sets for a in ("--set", s)])
    return f"runs/{run}-seed-0"


def embeddings(run):
    out = run + "-embedded"
    sh("embed", "--run", run, "--out", out)
    rows = list(csv.DictReader(open(f"{folder}/{out}/items.csv")))
    return [r["path"] for r in rows], np.load(f"{folder}/{out}/embeddings.npy")


def worst(got, want):
    got, want = np.asarray(got), np.asarray(want)
    return float(np.abs(got - want).max() / np.abs(want).max())


def length(a, b):
    """The length of the difference of two networks' tensors of floats."""
    return sum(float(((a[k] - b[k]).double() ** 2).sum()) for k in a if a[k].is_floating_point()) ** 0.5


def compare(name, files, count=20):
    weights = f"{folder}/{name}.pth"
    net = start(name, weights)
    begin = {k: v.clone() for k, v in net.state_dict().items()}
    model = [f"model.name={name}", f"model.weights={weights}"]
    still = train(f"{name}-{files}-still", model + ["train.steps=1", "optimizer.lr=1e-60"])
    paths, z = embeddings(still)
    features = [worst(z, embedded(net, paths))]
    run = train(f"{name}-{files}", model + [f"train.steps={count}"])
    events = [json.loads(line) for line in open(f"{folder}/{run}/events.jsonl")]
    got = np.array([[e["loss"], e["d_positive"], e["d_negative"]] for e in events if e["event"] == "step"])
    want = np.array(list(steps(net, count)))
    print(f"\n{name}, {files}\n\n| step | Tercet | PyTorch | relative difference |\n| ---: | ---: | ---: | ---: |")
    relative = np.abs(got - want) / np.maximum(want, 1e-12)  # a loss can be 0, in both
    for k, (g, w) in enumerate(zip(got[:, 0], want[:, 0])):
        print(f"| {k + 1} | {g:.8f} | {w:.8f} | {relative[k, 0]:.1e} |", flush=True)
    paths, z = embeddings(run)
    features.append(worst(z, embedded(net, paths)))
    sh("export", "torch", run, "--out", f"{run}-torch")
    end = net.state_dict()
    apart = length(end, torch.load(f"{folder}/{run}-torch/weights.pth"))
    print(f"\nlargest relative difference: losses {relative[:, 0].max():.1e}, distances {relative[:, 1:].max():.1e}, "
          f"embeddings before {features[0]:.1e} and after {features[1]:.1e}; "
          f"weights moved by {length(end, begin):.3g} and end {apart:.2g} apart", flush=True)
    return got.shape == want.shape == (count, 3) and max(relative[:HELD.get(name, 20)].max(), features[0]) < LIMIT


jpegs = {path: open(path, "rb").read() for path in glob.glob(f"{folder}/cub/images/*/*.jpg")}
for path in jpegs:
    Image.open(path).convert("RGB").save(path, "PNG")
good = [compare(name, "PNG") for name in networks]
for path, content in jpegs.items():
    open(path, "wb").write(content)
for name in networks:
    compare(name, "JPEG", HELD.get(name, 20))
sys.exit(0 if all(good) else 1)
