"""Checks the first 20 training steps of a protocol, and what comes before and after them, with PyTorch.

    make check-protocol      (testdata/scripts/check_protocol.py bin/tercet FOLDER [NETWORK...])

The protocol is configs/protocols/zhou-patel/cub.yaml on a tree of CUB's layout with 8 pairs a batch, random weights that
torch.save wrote, and a margin of 1, since images of a class are so similar that 0.2 is soon reached. FOLDER has that tree
and plan.json, which TestProtocolPlan of internal/wire wrote: the files of each batch, their boxes and mirrors, the
triplets. All else is done here by Pillow, torchvision and torch.optim.Adam: decode, resize, normalize, ResNet with stored
statistics of batch norm, triplet loss, update.

Held to 1e-4 relative, on PNG files of the same pixels: the embeddings of the test images before training, and in each
step the loss and the mean distances of positives and negatives, computed by PyTorch from the state that Tercet had before
the step. The change of the weights may differ from that of PyTorch in float64 by FLIPS of its norm. Its difference and
that of the gradient are printed, with those of PyTorch in float32. Then both train 20 steps without exchange. Rounding grows there: the same program of PyTorch runs with
one change of rounding alone at a time, and its drift is printed with Tercet's. Only networks in FREE are held to 1e-4 there.
Differences of embeddings after training, and those on the JPEG files, which two decoders read, are printed alone.
"""
import copy
import csv
import glob
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
import torchvision.transforms.functional as TF
from PIL import Image

import protocol_steps

tercet, folder, networks = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:] or ["resnet18"]
LIMIT = 1e-4
FLIPS = 0.1
FREE = {"resnet18"}  # networks whose free training is held to the limit, too: see docs/protocols.md
STEPS = int(os.environ.get("STEPS", 20))
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
    return TF.resize(Image.open(path).convert("RGB"), [plan["resize"]] * 2)


def of_plan(i):
    img = TF.crop(squashed(i["file"]), i["top"], i["left"], plan["crop"], plan["crop"])
    return tensor(TF.hflip(img) if i["flip"] else img)


def embedded(net, files):
    net.eval()
    with torch.no_grad():
        x = torch.stack([tensor(TF.center_crop(squashed(f), [plan["crop"]] * 2)) for f in files])
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


def batches(count):
    return [(torch.stack([of_plan(i) for i in step["images"]]), step["triplets"]) for step in plan["steps"][:count]]


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


def scores(run):
    events = [json.loads(line) for line in open(f"{folder}/{run}/events.jsonl")]
    return np.array([[e["loss"], e["d_positive"], e["d_negative"]] for e in events if e["event"] == "step"])


def relative(got, want):
    return np.abs(got - want) / np.maximum(want, 1e-12)  # a loss can be 0, in both


def from_same_state(name, net, run, plan_batches, got):
    """Prints the steps of a run, each compared with PyTorch from the state before it; returns whether all hold."""
    print(f"\n{name}, each step from Tercet's state before it\n\n"
          "| step | Tercet | PyTorch | relative difference | gradient: Tercet, PyTorch to float64 | update: Tercet, PyTorch to float64 |\n"
          "| ---: | ---: | ---: | ---: | ---: | ---: |")
    good = True
    for k, r in enumerate(protocol_steps.same_state(net, lambda k: f"{folder}/{run}/checkpoints/step-{k}.safetensors", plan_batches, got)):
        (_, own, torchs), (_, changed, theirs) = r["gradient"], r["change"]
        print(f"| {k + 1} | {r['loss'][0]:.8f} | {r['loss'][1]:.8f} | {r['scores'][0]:.1e} | {own:.1e}, {torchs:.1e} | {changed:.1e}, {theirs:.1e} |", flush=True)
        good = good and r["scores"][0] < LIMIT and changed < FLIPS
    return good


def drift(name, net, plan_batches, got):
    """Prints how far Tercet and PyTorch with changes of rounding drift from PyTorch; returns PyTorch's scores."""
    want = protocol_steps.program(net, plan_batches)
    others = {"Tercet": got, **dict(protocol_steps.variants(begin_of(net, name), plan_batches))}
    print(f"\n{name}, trained without exchange: relative difference of the loss to PyTorch's\n\n| step | PyTorch | " + " | ".join(others) + " |\n" + "| ---: " * (len(others) + 2) + "|")
    for k in range(len(want)):
        print(f"| {k + 1} | {want[k, 0]:.8f} | " + " | ".join(f"{relative(v, want)[k, 0]:.1e}" for v in others.values()) + " |", flush=True)
    return want


def begin_of(net, name):
    """The network before training."""
    net = copy.deepcopy(net)
    net.load_state_dict(torch.load(f"{folder}/{name}.pth"))
    return net


def compare(name):
    weights = f"{folder}/{name}.pth"
    net = start(name, weights)
    model = [f"model.name={name}", f"model.weights={weights}"]
    still = train(f"{name}-PNG-still", model + ["train.steps=1", "optimizer.lr=1e-60"])
    paths, z = embeddings(still)
    before = worst(z, embedded(net, paths))
    run = train(f"{name}-PNG", model + [f"train.steps={STEPS}", "train.keep_every=1 steps"])
    got, plan_batches = scores(run), batches(STEPS)
    good = from_same_state(name, begin_of(net, name), run, plan_batches, got)
    want = drift(name, net, plan_batches, got)
    paths, z = embeddings(run)
    after = worst(z, embedded(net, paths))
    sh("export", "torch", run, "--out", f"{run}-torch")
    end, begin = net.state_dict(), torch.load(weights)
    apart, free = length(end, torch.load(f"{folder}/{run}-torch/weights.pth")), relative(got, want)
    shutil.rmtree(f"{folder}/{run}")
    print(f"\nlargest relative difference without exchange: losses {free[:, 0].max():.1e}, distances {free[:, 1:].max():.1e}, "
          f"embeddings before {before:.1e} and after {after:.1e}; "
          f"weights moved by {length(end, begin):.3g} and end {apart:.2g} apart", flush=True)
    return good and before < LIMIT and (name not in FREE or free.max() < LIMIT)


def jpegs_apart(name, count=5):
    """Prints the differences on JPEG files."""
    run = train(f"{name}-JPEG", [f"model.name={name}", f"model.weights={folder}/{name}.pth", f"train.steps={count}"])
    net = start(name, f"{folder}/again.pth")
    free = relative(scores(run), protocol_steps.program(begin_of(net, name), batches(count)))
    print(f"\n{name}, {count} steps on JPEG files: losses {free[:, 0].max():.1e}, distances {free[:, 1:].max():.1e}", flush=True)


jpegs = {path: open(path, "rb").read() for path in glob.glob(f"{folder}/cub/images/*/*.jpg")}
for path in jpegs:
    Image.open(path).convert("RGB").save(path, "PNG")
good = [compare(name) for name in networks]
for path, content in jpegs.items():
    open(path, "wb").write(content)
for name in networks:
    jpegs_apart(name)
sys.exit(0 if all(good) else 1)
