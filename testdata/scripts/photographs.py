"""JPEG files of parts of four photographs that scikit-learn, scipy and matplotlib come with."""
import bz2
import os

import matplotlib.cbook
import numpy as np
import scipy.misc
import sklearn.datasets
from PIL import Image

SAMPLINGS = ((2, 75), (2, 90), (2, 95), (1, 85), (0, 90))


def photographs():
    yield from sklearn.datasets.load_sample_images().images
    yield np.frombuffer(bz2.decompress(open(os.path.dirname(scipy.misc.__file__) + "/face.dat", "rb").read()), np.uint8).reshape(768, 1024, 3)
    yield np.asarray(Image.open(matplotlib.cbook.get_sample_data("grace_hopper.jpg")).convert("RGB"))


def write_images(folder):
    """JPEG files of 500 pixels at most, and the photograph that each is of."""
    r, of = np.random.default_rng(19), []
    for k, photo in enumerate(photographs()):
        img = Image.fromarray(photo)
        for part in range(8):
            w, h = (int(n * r.uniform(0.6, 1)) for n in img.size)
            x, y = int(r.integers(0, img.width - w + 1)), int(r.integers(0, img.height - h + 1))
            scale = 500 / max(w, h)
            out = img.crop((x, y, x + w, y + h)).resize((round(w * scale), round(h * scale)), Image.LANCZOS)
            subsampling, quality = SAMPLINGS[(k + part) % len(SAMPLINGS)]
            out.save(f"{folder}/{k}-{part}.jpg", quality=quality, subsampling=subsampling, progressive=part == 3)
            of.append(k)
    return np.array(of)
