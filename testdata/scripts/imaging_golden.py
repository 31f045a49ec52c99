"""Images decoded, resized, cropped and recolored by Pillow and torchvision.

Writes internal/imaging/testdata/{resize,geometry,boxes,color,jpeg}.json and
internal/imaging/transform/testdata/draws.json. Needs Pillow (made with 9.4.0 on
libjpeg-turbo 2.1.5), torchvision (0.14.1) and numpy. Images are made by a formula that
the tests repeat, and results are kept as CRC-32; decoded JPEGs are kept whole.
"""

import base64
import io
import json
import pathlib
import zlib

import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T
from torchvision.transforms import functional as F

OUT = pathlib.Path(__file__).parents[2] / "internal/imaging/testdata"


def picture(h, w, seed):
    """Bytes that look random: a hash of the index."""
    x = np.arange(h * w * 3, dtype=np.uint64) + np.uint64(seed * 7919)
    x = (x * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(0x85EBCA6B)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(13)
    return (x & np.uint64(255)).astype(np.uint8).reshape(h, w, 3)


def crc(image):
    return zlib.crc32(np.ascontiguousarray(np.asarray(image)).tobytes())


def smooth(h, w, seed):
    """An image with edges and colors, as photographs have."""
    r = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w]
    a = np.zeros((h, w, 3))
    for c in range(3):
        for _ in range(3):
            u, v = r.normal(size=2) * 0.2
            a[:, :, c] += 40 * np.sin(u * x + v * y + r.uniform(0, 6))
        a[:, :, c] += np.where((x - w * r.uniform()) * r.normal() + (y - h * r.uniform()) * r.normal() > 0, 70, -50)
    return np.clip(a + 128 + r.normal(size=(h, w, 3)) * 6, 0, 255).astype(np.uint8)


def write(name, rows):
    lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows)
    (OUT / (name + ".json")).write_text("[\n" + lines + "\n]\n")
    print(name, len(rows))


def resize():
    r = np.random.default_rng(19)
    cases = [(500, 333, 384, 256), (333, 500, 256, 384), (375, 500, 256, 256), (97, 131, 224, 224), (1, 1, 7, 5), (1, 40, 1, 9), (40, 1, 9, 1), (64, 64, 64, 20), (64, 64, 20, 64), (64, 64, 64, 64), (3, 200, 200, 3)]
    while len(cases) < 290:
        top = int(r.choice([6, 40, 150]))
        cases.append(tuple(int(v) for v in r.integers(1, top, 4)))
    rows = []
    for i, (h, w, oh, ow) in enumerate(cases):
        for kind, mode in ((0, Image.BILINEAR), (1, Image.BICUBIC)):
            rows.append([h, w, i, oh, ow, kind, crc(Image.fromarray(picture(h, w, i)).resize((ow, oh), mode))])
    write("resize", rows)


def geometry():
    rows = []
    for n in range(225, 601):  # places of the crop, sizes of the resize
        for other in (224, 300, 301):
            a = np.zeros((n, other, 3), np.uint8)
            a[:, :, 0] = np.arange(n)[:, None] // 256
            a[:, :, 1] = np.arange(n)[:, None] % 256
            crop = np.asarray(F.center_crop(Image.fromarray(a), [224, 224])).astype(int)
            side = F.resize(Image.fromarray(a), 256).size
            rows.append([n, other, int(crop[0, 0, 0] * 256 + crop[0, 0, 1]), side[1], side[0]])
    write("geometry", rows)
    rows = []
    r = np.random.default_rng(3)
    for i in range(60):  # boxes
        h, w = (int(v) for v in r.integers(8, 90, 2))
        ch, cw = int(r.integers(1, h + 1)), int(r.integers(1, w + 1))
        top, left = int(r.integers(0, h - ch + 1)), int(r.integers(0, w - cw + 1))
        img = Image.fromarray(picture(h, w, i))
        box = F.resized_crop(img, top, left, ch, cw, [24, 20], F.InterpolationMode.BICUBIC if i % 2 else F.InterpolationMode.BILINEAR)
        size = int(r.integers(4, 100))
        rows.append([h, w, i, top, left, ch, cw, i % 2, crc(box), crc(F.hflip(box)), size, crc(F.center_crop(img, [size, size]))])
    write("boxes", rows)


def color():
    rows = []
    r = np.random.default_rng(4)
    ops = [F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue]
    for i in range(80):
        img = Image.fromarray(picture(30, 41, i))
        k = i % 4
        f = float(np.round(r.uniform(-0.5, 0.5) if k == 3 else r.uniform(0, 2.2), 6))
        if i < 8 and k < 3:
            f = [0.0, 1.0][i // 4]
        rows.append([k, i, f, crc(ops[k](img, f))])
    every = np.stack(np.meshgrid(*[np.arange(0, 256, 3)] * 3, indexing="ij"), -1).astype(np.uint8).reshape(86, -1, 3)
    rows.append([3, -1, 0.37, crc(F.adjust_hue(Image.fromarray(every), 0.37))])
    write("color", rows)


def jpeg():
    rows = []

    def add(name, img, **how):
        buf = io.BytesIO()
        img.save(buf, "JPEG" if "png" not in how else "PNG", **{k: v for k, v in how.items() if k != "png"})
        raw = buf.getvalue()
        rgb = np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"))
        rows.append({"name": name, "file": base64.b64encode(raw).decode(), "h": rgb.shape[0], "w": rgb.shape[1], "rgb": base64.b64encode(zlib.compress(rgb.tobytes(), 9)).decode()})

    for sub, s in (("444", 0), ("422", 1), ("420", 2)):
        for quality, progressive in ((75, False), (95, False), (85, True)):
            add(f"{sub} quality {quality}{' progressive' if progressive else ''}", Image.fromarray(smooth(53, 67, quality + s)), quality=quality, subsampling=s, progressive=progressive)
        for n in range(1, 18):
            add(f"{sub} {n} x {18 - n}", Image.fromarray(smooth(n, 18 - n, n)), quality=80, subsampling=s)
    big = Image.fromarray(smooth(40, 50, 5))
    add("gray", big.convert("L"), quality=85)
    add("cmyk", big.convert("CMYK"), quality=85)
    add("exif orientation 6", big, quality=85, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0")
    for mode in ("RGB", "L", "LA", "RGBA", "P", "1"):
        img = big
        if mode in ("LA", "RGBA"):
            img = img.convert("RGBA")
            img.putalpha(Image.fromarray(smooth(40, 50, 6)[:, :, 0]))
        add("png " + mode, img.convert(mode), png=True)
    write("jpeg", rows)


def draws():
    """Means and standard deviations of what torchvision draws, 20,000 times each."""
    torch.manual_seed(5)
    rows = []

    def add(kind, h, w, scale, ratio, draw):
        x = np.array([draw() for _ in range(20000)], dtype=float)
        rows.append({"kind": kind, "h": h, "w": w, "scale": scale, "ratio": ratio, "mean": x.mean(0).tolist(), "sd": x.std(0).tolist()})

    for h, w, scale, ratio in ((300, 400, [0.08, 1.0], [0.75, 4 / 3]), (97, 61, [0.2, 1.0], [0.75, 4 / 3]), (40, 40, [0.5, 0.6], [0.9, 1.1]), (10, 100, [0.9, 1.0], [0.75, 4 / 3]), (100, 10, [0.9, 1.0], [0.75, 4 / 3]), (3, 3, [0.001, 0.002], [0.75, 4 / 3])):
        img = torch.zeros(3, h, w)
        add("RandomResizedCrop", h, w, scale, ratio, lambda: T.RandomResizedCrop.get_params(img, scale, ratio))
        if h * w > 1000:
            s = [0.02, 0.33]
            add("RandomErasing", h, w, s, [0.3, 3.3], lambda: T.RandomErasing.get_params(img, s, [0.3, 3.3], [0.0])[:4])
    text = ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows)
    (OUT.parent / "transform/testdata/draws.json").write_text("[\n" + text + "\n]\n")


OUT.mkdir(parents=True, exist_ok=True)
resize()
geometry()
color()
jpeg()
draws()
