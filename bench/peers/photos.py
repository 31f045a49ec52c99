"""The job of image files with Pillow: decoded, resized, cropped, to float32."""

import io
from multiprocessing.pool import ThreadPool

import numpy as np

import machine


def photo(h, w, seed):
    """The picture of internal/bench/photos.go."""
    y, x = np.mgrid[0:h, 0:w].astype(np.int64)
    out = np.zeros((h, w, 3), np.uint8)
    for c in range(3):
        k = c + 3 * seed
        v = 128 + 50 * np.sin(x * 0.031 + k) + 40 * np.sin(y * 0.047 - 2 * k) + 20 * np.sin(x * y * 0.0009)
        v += 30 * ((x // (40 + 7 * c) + y // (33 + 5 * c) + seed) % 2 == 0)
        n = ((y * w + x + c).astype(np.uint64) * np.uint64(0x9E3779B1)) & np.uint64(0xFFFFFFFF)
        v += (n >> np.uint64(28)).astype(np.float64) - 8
        out[:, :, c] = np.clip(v, 0, 255).astype(np.uint8)
    return out


def photos(threads, seconds, _):
    """Pillow lets other threads run while it decodes and resizes."""
    import PIL
    from PIL import Image, features

    n, h, w, side = 32, 334, 500, 224
    files = []
    for i in range(n):
        b = io.BytesIO()
        Image.fromarray(photo(h, w, i)).save(b, "JPEG", quality=90, subsampling=2)
        files.append(b.getvalue())
    out = np.empty((n, side, side, 3), np.float32)

    def one(i):
        img = Image.open(io.BytesIO(files[i])).convert("RGB")
        short = min(img.size)
        size = tuple(256 if v == short else int(256 * v / short) for v in img.size)
        img = img.resize(size, Image.BILINEAR)
        left, top = (int(round((v - side) / 2)) for v in size)
        np.divide(np.asarray(img.crop((left, top, left + side, top + side))), np.float32(255), out=out[i])

    pool = ThreadPool(threads) if threads > 1 else None

    def run():
        if pool:
            pool.map(one, range(n), chunksize=1)
        else:
            for i in range(n):
                one(i)

    t = machine.repeat(run, seconds, warm_up=1)
    return {"images_per_step": n, "images_per_s": n / t.median, "images_per_s_best": n / t.best, "times": t,
            "versions": {**machine.versions(np, PIL), "libjpeg-turbo": features.version_feature("libjpeg_turbo") or "no"},
            "shape": f"{n} files of {w}x{h}, {sum(map(len, files)) // n} bytes"}


JOBS = {"photos": photos}
