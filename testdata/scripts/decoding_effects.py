"""Measures what differences of decoding, resizing and cropping do to an embedding.

    make decoding-effects      (testdata/scripts/decoding_effects.py bin/tercet)

The reference is PyTorch's pipeline: Pillow decodes, Resize(256), CenterCrop(224), ResNet-50 of torchvision. Each row
changes one thing, or is Tercet's. The weights are drawn with a seed (no trained ones are here): rows compare with each
other, trained weights have other sizes. The statistics of batch norm are those of the images. Branches are small next
to their shortcuts, as check_protocol.py has them; with FULL=1 they have full size, and the network is much rougher.

Images are 32 parts of four photographs that scikit-learn, scipy and matplotlib come with, saved as JPEG of 500 pixels.
Printed are 1 - cosine to the reference's embedding and the length of the difference, as a share of the mean distance
between images of different photographs. It fails where Tercet's own pipeline exceeds LIMIT.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import torch
import torch.nn.functional as F
import torchvision
import torchvision.transforms.functional as TF
from PIL import Image, JpegImagePlugin

from photographs import write_images

tercet = os.path.abspath(sys.argv[1])
LIMIT = 0.03  # the share of a distance that Tercet's pipeline may move an embedding
FULL = os.environ.get("FULL") == "1"
torch.set_num_threads(2)


def short(img, side=256):
    """torchvision's size: the long side truncated."""
    w, h = img.size
    return (side, int(side * h / w)) if w <= h else (int(side * w / h), side)


def center(a, down=0, right=0):
    """torchvision's CenterCrop(224) of an array, or one that is off."""
    top, left = (int(round((n - 224) / 2)) for n in a.shape[:2])
    return a[max(top + down, 0):, max(left + right, 0):][:224, :224]


def resized(img, how=Image.BILINEAR, size=None):
    return np.asarray(img.resize(size or short(img), how))


def by_opencv(img, how):
    return cv2.resize(np.asarray(img), short(img), interpolation=how)


def by_tensor(img, antialias):
    t = TF.resize(torch.from_numpy(np.array(img).transpose(2, 0, 1)), 256, antialias=antialias)
    return t.numpy().transpose(1, 2, 0)


def rounded(img, side=256):
    w, h = img.size
    return (side, round(side * h / w)) if w <= h else (round(side * w / h), side)


def scaled_decode(path):
    """Pillow's draft mode: libjpeg scales by 1/2 while it decodes, before the resize."""
    img = Image.open(path)
    img.draft("RGB", (img.width // 2, img.height // 2))
    return img.convert("RGB")


def nearest_chroma(path):
    """Subsampled colors of JPEG in blocks, as decoders give them that do not interpolate."""
    img = Image.open(path)
    block = {0: 1, 1: (2, 1), 2: 2}[JpegImagePlugin.get_sampling(img)]
    y, cb, cr = img.convert("YCbCr").split()
    return Image.merge("YCbCr", [y] + [c.reduce(block).resize(img.size, Image.NEAREST) for c in (cb, cr)]).convert("RGB")


def again(img, quality):
    b = io.BytesIO()
    img.save(b, "JPEG", quality=quality)
    return Image.open(b).convert("RGB")


def read_cv(path):
    return Image.fromarray(cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB))


def read_tv(path):
    return Image.fromarray(torchvision.io.read_image(path).numpy().transpose(1, 2, 0))


def read(path):
    return Image.open(path).convert("RGB")


VARIANTS = {
    "decode: OpenCV": lambda p: center(resized(read_cv(p))),
    "decode: torchvision.io": lambda p: center(resized(read_tv(p))),
    "decode: colors not interpolated": lambda p: center(resized(nearest_chroma(p))),
    "decode: scaled by 1/2 (draft)": lambda p: center(resized(scaled_decode(p), size=short(read(p)))),
    "file: saved again, quality 95": lambda p: center(resized(again(read(p), 95))),
    "file: saved again, quality 75": lambda p: center(resized(again(read(p), 75))),
    "resize: tensors, antialias": lambda p: center(by_tensor(read(p), True)),
    "resize: tensors, no antialias": lambda p: center(by_tensor(read(p), None)),
    "resize: OpenCV INTER_LINEAR": lambda p: center(by_opencv(read(p), cv2.INTER_LINEAR)),
    "resize: OpenCV INTER_AREA": lambda p: center(by_opencv(read(p), cv2.INTER_AREA)),
    "resize: OpenCV INTER_CUBIC": lambda p: center(by_opencv(read(p), cv2.INTER_CUBIC)),
    "resize: Pillow bicubic": lambda p: center(resized(read(p), Image.BICUBIC)),
    "resize: Pillow Lanczos": lambda p: center(resized(read(p), Image.LANCZOS)),
    "resize: Pillow nearest": lambda p: center(resized(read(p), Image.NEAREST)),
    "resize: long side rounded": lambda p: center(resized(read(p), size=rounded(read(p)))),
    "resize: short side 232": lambda p: center(resized(read(p), size=short(read(p), 232))),
    "resize: 256 x 256, aspect not kept": lambda p: center(resized(read(p), size=(256, 256))),
    "crop: one pixel up": lambda p: center(resized(read(p)), down=-1),
    "crop: one pixel up and left": lambda p: center(resized(read(p)), -1, -1),
    "crop: mirrored": lambda p: center(resized(read(p)))[:, ::-1],
    "colors: BGR for RGB": lambda p: center(resized(read(p)))[:, :, ::-1],
}


def tensors(images):
    x = torch.from_numpy(np.stack(images).astype(np.float32).transpose(0, 3, 1, 2) / 255)
    return TF.normalize(x, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def network(x, path):
    """ResNet-50 without fc, its statistics those of x; torch.save writes it to path."""
    torch.manual_seed(0)
    net = torchvision.models.resnet50()
    for key, v in net.named_parameters():
        if key.endswith("bn3.weight") and not FULL:
            torch.nn.init.uniform_(v, 0.1, 0.3)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.momentum = None
    net.train()
    with torch.no_grad():
        net(x)
    torch.save(net.state_dict(), path)
    net.fc = torch.nn.Identity()
    return net.eval()


def of_tercet(folder, images, data):
    """Embeddings of a folder of images by tercet embed, in the order of their names."""
    name = f"{folder}/e{len(os.listdir(folder))}"
    open(name + ".yaml", "w").write(
        f"data: {{name: folder, root: {images}, {data}}}\n"
        f"model: {{name: resnet50, head: none, embedding: 0, mean_std: imagenet, normalize: false, weights: {folder}/w.pth}}\n")
    r = subprocess.run([tercet, "embed", "--config", name + ".yaml", images, "--out", name, "--quiet"], capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr)
    rows = [r["path"] for r in csv.DictReader(open(name + "/items.csv"))]
    z = np.load(name + "/embeddings.npy")
    return torch.from_numpy(z[np.argsort(rows)])


def main(folder):
    jpeg, png = folder + "/jpeg", folder + "/png"
    os.mkdir(jpeg), os.mkdir(png)
    of = write_images(jpeg)
    paths = [f"{jpeg}/{n}" for n in sorted(os.listdir(jpeg))]
    for p in paths:
        read(p).save(f"{png}/{os.path.basename(p)[:-4]}.png")
    x = tensors([center(resized(read(p))) for p in paths])
    net = network(x, folder + "/w.pth")

    def embed(x):
        with torch.no_grad():
            return torch.cat([net(part) for part in x.split(16)])

    want = embed(x)
    other = float(torch.cdist(want, want)[torch.from_numpy(of[:, None] != of[None, :])].mean())
    rows, steps = {}, "transform: {test: [Resize(256), CenterCrop(224)]}"
    rows["**Tercet**, the same steps"] = of_tercet(folder, jpeg, steps)
    rows["**Tercet**, on PNG of Pillow's pixels"] = of_tercet(folder, png, steps)
    rows["**Tercet**, `data.size: 256`, `fit: short`, `crop: 224`"] = of_tercet(folder, jpeg, "size: 256, fit: short, crop: 224")
    for name, f in VARIANTS.items():
        rows[name] = embed(tensors([np.ascontiguousarray(f(p)) for p in paths]))
    print("| what differs | 1 - cosine, mean | largest | share of a distance, mean | largest |\n| --- | ---: | ---: | ---: | ---: |")
    share = {}
    for name, got in rows.items():
        apart = 1 - F.cosine_similarity(got.double(), want.double())
        share[name] = (got - want).norm(dim=1) / other
        print(f"| {name} | {float(apart.mean()):.1e} | {float(apart.max()):.1e} | {float(share[name].mean()):.4f} | {float(share[name].max()):.4f} |")
    worst = float(share["**Tercet**, the same steps"].max())
    return 0 if worst < LIMIT else f"Tercet's own pipeline moves an embedding by {worst:.3f} of a distance, limit {LIMIT}"


with tempfile.TemporaryDirectory() as d:
    sys.exit(main(d))
