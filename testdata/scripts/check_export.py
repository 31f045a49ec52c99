"""Checks weights and exports of Tercet with PyTorch, torchvision and OpenCV, end to end.

    python3 testdata/scripts/check_export.py bin/tercet [MODEL...]

For each model: a run on random images whose weights do not move; tercet export torch, whose weights must load
strict and, run by model.py, give the embeddings of tercet eval; tercet export onnx, run by OpenCV. ResNets begin
with random weights of torchvision in a .pth file of either container: what comes back must be the same bits.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import torch
import torchvision
from PIL import Image

tercet, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
torch.set_num_threads(2)
folder = tempfile.mkdtemp(prefix="check_export-")


def sh(*args):
    r = subprocess.run([tercet, *args], cwd=folder, capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{' '.join(args)}: {r.returncode}\n{r.stderr}")
    return r


def tree(name, mode, side, per_class):
    rng = np.random.default_rng(1)
    for c in range(4):
        os.makedirs(f"{folder}/{name}/class{c}")
        for i in range(per_class):
            shape = (side, side, 3) if mode == "RGB" else (side, side)
            Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8), mode).save(f"{folder}/{name}/class{c}/{i}.png")


tree("color", "RGB", 64, 5)
tree("gray", "L", 28, 6)


def random_resnet(name, classes):
    torch.manual_seed(7)
    net = getattr(torchvision.models, name)(num_classes=classes)
    with torch.no_grad():
        for key, v in net.state_dict().items():
            if key.endswith("running_var"):
                v.uniform_(0.5, 1.5)
            elif key.endswith("running_mean") or key.endswith("bias"):
                v.uniform_(-0.1, 0.1)
    return net.eval()


def load_model(path):
    spec = importlib.util.spec_from_file_location("model", os.path.join(path, "model.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load()


def pixels(files):
    out = []
    for f in files:
        x = np.asarray(Image.open(f if os.path.isabs(f) else os.path.join(folder, f)), dtype=np.float32) / np.float32(255)
        out.append(x[None] if x.ndim == 2 else x.transpose(2, 0, 1))
    return np.stack(out)


def worst(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


cases = [("linear", "gray", []), ("mlp", "gray", []), ("lenet", "gray", []), ("cnn", "gray", []), ("c2f2", "gray", ["model.normalize=false"])]
cases += [("resnet18", "color", ["model.embedding=64"]), ("resnet18", "gray", ["model.stem=small", "model.width=8"])]
known = sh("config", "keys", "model.name").stdout
for big in ("resnet34", "resnet50"):
    if big in known:
        cases.append((big, "color", ["model.embedding=64"]))
if "mean_std" in sh("config", "keys", "model").stdout:
    cases += [("resnet18", "color", ["model.embedding=64", "model.mean_std=imagenet"])]
    cases += [("resnet50", "color", ["model.mean_std=bn-inception", "model.pool=avg+max", "model.embedding=64"])]
    cases += [("resnet18", "color", ["model.head=layernorm-linear", "model.embedding=64"])]
    cases += [("resnet18", "color", ["model.mean_std=caffe", "model.pool=max", "model.head=none", "model.embedding=0"])]

bad = 0
for number, (model, data, sets) in enumerate(cases):
    if only and model not in only:
        continue
    name = f"{model}-{number}"
    sets = ["data.name=folder", f"data.root={data}", f"model={model}", f"name={name}", "train.epochs=0", "train.steps=1", "batch=class-pairs", "batch.pairs=4",
            "data.split=class", "train.batchnorm=frozen", "optimizer.lr=1e-60", "eval.baselines=false"] + sets
    want = None
    if model.startswith("resnet") and data == "color":
        net = random_resnet(model, 64)
        for zipped in (True, False):
            torch.save({"state_dict": {"module." + k: v for k, v in net.state_dict().items()}} if zipped else net.state_dict(),
                       f"{folder}/{model}-{zipped}.pth", _use_new_zipfile_serialization=zipped)
        want = net.state_dict()
        sets.append(f"model.weights={model}-{number % 2 == 0}.pth")
    r = sh("train", *[a for s in sets for a in ("--set", s)])
    said = [l for l in r.stderr.splitlines() if "weights:" in l]
    sh("eval", "--run", f"runs/{name}", "--save-embeddings", f"{name}.npy")
    z = np.load(f"{folder}/{name}.npy")
    items = [l.split(",") for l in open(f"{folder}/{name}.items.csv").read().splitlines()] if os.path.exists(f"{folder}/{name}.items.csv") else None
    sh("export", "torch", f"runs/{name}", "--out", f"{name}-torch")
    sh("export", "onnx", f"runs/{name}", "--out", f"{name}.onnx")
    files = [row[items[0].index("file")] for row in items[1:]]
    x = pixels(files)
    m = load_model(f"{folder}/{name}-torch")
    with torch.no_grad():
        y = m(torch.from_numpy(x)).numpy()
    o = z  # OpenCV 4.6 has no mean over the numbers of a row
    if "model.head=layernorm-linear" not in sets:
        net = cv2.dnn.readNetFromONNX(f"{folder}/{name}.onnx")
        net.setInput(x)
        o = net.forward()
    line = f"{model:9} {' '.join(sets[12:]):60} torch {worst(y, z):.1e}  onnx {worst(o, z):.1e}"
    ok = worst(y, z) < 1e-4 and worst(o, z) < 1e-4
    if want is not None:
        got = torch.load(f"{folder}/{name}-torch/weights.pth")
        same = [k for k in want if k in got and k.split(".")[-1] != "num_batches_tracked" and torch.equal(want[k], got[k])]
        counted = [k for k in want if k.split(".")[-1] != "num_batches_tracked"]
        if "model.head=none" in sets:
            counted = [k for k in counted if not k.startswith("fc.")]
        else:
            torchvision.models.__dict__[model](num_classes=64).load_state_dict(got, strict=True)
        line += f"  {len(same)} of {len(counted)} tensors bit-identical"
        ok = ok and len(same) == len(counted)
        for k in counted:
            if k not in same:
                at = (want[k] != got[k]).nonzero()[0].tolist()
                print(f"{k}{at} is {got[k][tuple(at)]:.9g}, was {want[k][tuple(at)]:.9g}")
    print(line + ("" if ok else "  WRONG"), *said, sep="\n    ")
    bad += not ok
sys.exit(bad)
