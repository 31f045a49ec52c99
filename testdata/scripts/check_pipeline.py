"""Checks the whole way from a JPEG and a file of weights to an embedding with PyTorch, torchvision and Pillow.

    make check-pipeline      (testdata/scripts/check_pipeline.py bin/tercet [NETWORK...])

For each ResNet: random weights of torchvision, with statistics of batch norm of the images, as .pth in both containers and
as safetensors. tercet embed must give the same bits from all three. On 32 JPEGs (photographs.py) the cosine to PyTorch's
embedding is at least COSINE; on PNG files of Pillow's pixels numbers differ by at most RELATIVE of the largest. Reading
the weights takes at most twice their file, and MARGIN: the largest memory of tercet config check with them, less that
without them, and less the weights and gradients of the network that they are copied to. Then files that call a function,
name foreign objects or refer to themselves without end: exit code 3, the name in the message, nothing run or written.
"""
import argparse
import csv
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
import torchvision
import torchvision.transforms as T
from PIL import Image

from photographs import write_images

tercet, networks = os.path.abspath(sys.argv[1]), sys.argv[2:] or ["resnet18", "resnet34", "resnet50"]
COSINE, RELATIVE, MARGIN = 0.9999, 1e-4, 32 << 20
steps = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
bad = []


def check(what, good, seen):
    print(f"{'ok   ' if good else 'WRONG'} {what}: {seen}", flush=True)
    if not good:
        bad.append(what)


# A process begins with the largest memory of the one that started it, so a small one has to.
START = "import resource, subprocess, sys; r = subprocess.call(sys.argv[1:], stdout=2); print(r, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def run(*args):
    """Exit code, stderr and largest memory in bytes of a command."""
    p = subprocess.run([sys.executable, "-S", "-c", START, tercet, *args], capture_output=True, text=True)
    code, kilobytes = map(int, p.stdout.split())
    return code, p.stderr, kilobytes << 10


def network(name, images):
    torch.manual_seed(0)
    net = getattr(torchvision.models, name)()
    for key, v in net.named_parameters():
        if key.startswith("layer") and key.endswith("bn3.weight" if name == "resnet50" else "bn2.weight"):
            torch.nn.init.uniform_(v, 0.1, 0.3)  # branches small next to their shortcuts, as in trained networks
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.momentum = None
    with torch.no_grad():
        net.train()(images)
    return net.eval()


def save_safetensors(weights, path):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for key, v in weights.items():
        raw = v.contiguous().numpy().tobytes()
        header[key] = {"dtype": {torch.float32: "F32", torch.int64: "I64"}[v.dtype], "shape": list(v.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def config(name, weights):
    path = f"{folder}/{name}.yaml"
    with open(path, "w") as f:
        f.write(f"data: {{name: folder, root: {folder}, transform: {{test: [Resize(256), CenterCrop(224)]}}}}\n"
                f"model: {{name: {name}, head: none, embedding: 0, mean_std: imagenet, normalize: false{weights and ', weights: ' + weights}}}\n")
    return path


def embedded(name, weights, images):
    out = f"{folder}/out{len(os.listdir(folder))}"
    code, text, _ = run("embed", "--config", config(name, weights), images, "--out", out, "--quiet")
    if code:
        sys.exit(text)
    rows = [r["path"] for r in csv.DictReader(open(out + "/items.csv"))]
    return torch.from_numpy(np.load(out + "/embeddings.npy")[np.argsort(rows)])


def of_network(name, jpeg, png):
    def read(images):
        return torch.stack([steps(Image.open(f"{images}/{n}").convert("RGB")) for n in sorted(os.listdir(images))])

    x = read(jpeg)
    net = network(name, x)
    net.fc = torch.nn.Linear(net.fc.in_features, 1000)
    files = {kind: f"{folder}/{name}-{kind}" for kind in ("zip.pth", "stream.pth", "safetensors")}
    torch.save(net.state_dict(), files["zip.pth"])
    torch.save(net.state_dict(), files["stream.pth"], _use_new_zipfile_serialization=False)
    save_safetensors(net.state_dict(), files["safetensors"])
    net.fc = torch.nn.Identity()
    with torch.no_grad():
        want, flat = (torch.cat([net(part) for part in y.split(8)]) for y in (x, read(png)))
    got = {kind: embedded(name, file, jpeg) for kind, file in files.items()}
    first = got["zip.pth"]
    check(f"{name}: the three files give the same bits", all(torch.equal(first, z) for z in got.values()), len(first))
    cosine = float(F.cosine_similarity(first.double(), want.double()).min())
    check(f"{name}: JPEG, smallest cosine", cosine >= COSINE, f"{cosine:.7f}")
    apart = float((embedded(name, files["zip.pth"], png) - flat).abs().max() / flat.abs().max())
    check(f"{name}: PNG, largest relative difference", apart <= RELATIVE, f"{apart:.1e}")
    _, _, without = run("config", "check", config(name, ""))
    without += 2 * 4 * sum(p.numel() for p in net.parameters())  # fc is gone from net
    for kind, file in files.items():
        code, text, memory = run("config", "check", config(name, file))
        if code:
            sys.exit(text)
        size = os.path.getsize(file)
        check(f"{name}: memory for {kind}", memory - without <= 2 * size + MARGIN, f"{(memory - without) / 1e6:.0f} MB for {size / 1e6:.0f} MB, {(memory - without) / size:.2f} times")


class Calls:
    def __reduce__(self):
        return os.system, (f"touch {folder}/ran",)


def bomb():
    """A pickle whose memo doubles with each of 60 steps."""
    x = "a"
    for _ in range(60):
        x = (x, x)
    return x


def refused(jpeg):
    tensors = {"conv1.weight": torch.zeros(64, 3, 7, 7)}
    for what, content, says in (
        ("calls os.system", {**tensors, "x": Calls()}, "system"),
        ("argparse.Namespace", {"state_dict": tensors, "args": argparse.Namespace(lr=1)}, "argparse.Namespace"),
        ("a whole network", torchvision.models.resnet18(), "torchvision.models.resnet.ResNet"),
        ("a memo that grows without end", bomb(), ".pth"),
    ):
        for zipped in (True, False):
            file = f"{folder}/foreign.pth"
            torch.save(content, file, _use_new_zipfile_serialization=zipped, pickle_protocol=2)
            code, text, memory = run("embed", "--config", config("resnet18", file), jpeg, "--out", f"{folder}/none", "--quiet")
            good = code == 3 and says in text and text.count("\n") == 1 and memory < 128 << 20 and not os.path.exists(f"{folder}/none") and not os.path.exists(f"{folder}/ran")
            check(f"{what}, {'zip' if zipped else 'stream'}", good, f"exit code {code}, {memory / 1e6:.0f} MB: {text.strip().replace(folder + '/', '')}")


with tempfile.TemporaryDirectory() as folder:
    jpeg, png = f"{folder}/jpeg", f"{folder}/png"
    os.mkdir(jpeg), os.mkdir(png)
    write_images(jpeg)
    for n in os.listdir(jpeg):
        Image.open(f"{jpeg}/{n}").convert("RGB").save(f"{png}/{n[:-4]}.png")
    refused(jpeg)
    for name in networks:
        of_network(name, jpeg, png)
sys.exit(", ".join(bad))
