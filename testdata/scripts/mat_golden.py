"""Writes internal/data/mat/testdata/*.mat with scipy: annotations as those of Cars-196, and
the kinds of values that package mat reads. Run: /usr/bin/python3 testdata/scripts/mat_golden.py
"""

import numpy as np
from scipy.io import savemat

OUT = "internal/data/mat/testdata/"

rows = [(39, 116, 569, 375, 14, "00001.jpg"), (36, 116, 868, 587, 3, "b/00002.jpg"), (85, 109, 601, 381, 196, "ä.jpg")]
annotations = np.zeros((1, 3), dtype=[(n, object) for n in ("bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname")])
for i, r in enumerate(rows):
    for k, name in enumerate(annotations.dtype.names):
        annotations[0, i][name] = r[k]
names = np.array(["AM General Hummer SUV 2000", "Ram C/V Cargo Van Minivan 2012"], dtype=object).reshape(1, 2)
values = {
    "annotations": annotations,
    "class_names": names,
    "m": np.array([[1.5, -2.0, 3.0], [4.0, 5.0, 1e300]]),
    "i16": np.array([[-5, 300]], dtype=np.int16),
    "u64": np.array([[7]], dtype=np.uint64),
    "f32": np.array([[0.25]], dtype=np.float32),
    "empty": np.zeros((0, 0)),
}
savemat(OUT + "plain.mat", values, do_compression=False)
savemat(OUT + "compressed.mat", values, do_compression=True)
