"""Values and gradients of pytorch-metric-learning's own losses, in float64, on cases of
internal/engine/loss/labeled/testdata/labeled.json where both define the same. Writes
internal/engine/loss/labeled/testdata/pml.json.

    PYTHONPATH=CHECKOUT/src python3 testdata/scripts/pml_losses_golden.py

pytorch-metric-learning 2.8.1 at 216a792 under PyTorch 1.13 gave the stored file.
"""

import json
import math
import pathlib

import torch
from pytorch_metric_learning import distances, losses, reducers

torch.set_default_dtype(torch.float64)
HERE = pathlib.Path(__file__).parents[2] / "internal/engine/loss/labeled/testdata"
RAW = dict(distance=distances.LpDistance(normalize_embeddings=False))
MEAN = dict(reducer=reducers.MeanReducer())


# Case of labeled.json -> the loss for so many classes and numbers, the name of its
# parameters, and whether they are transposed.
KNOWN = {
    "supcon: two of each": (lambda c, d: losses.SupConLoss(temperature=0.1), None),
    "nt-xent: mixed, denominator negatives": (lambda c, d: losses.NTXentLoss(temperature=0.07), None),
    "proxy-anchor: mixed": (lambda c, d: losses.ProxyAnchorLoss(c, d, margin=0.1, alpha=32), ("proxies", False)),
    "normalized-softmax: mixed": (lambda c, d: losses.NormalizedSoftmaxLoss(c, d, temperature=0.05), ("W", True)),
    "cosface: mixed": (lambda c, d: losses.CosFaceLoss(c, d, margin=0.35, scale=64), ("W", True)),
    "arcface: mixed": (lambda c, d: losses.ArcFaceLoss(c, d, margin=math.degrees(0.5), scale=64), ("W", True)),
    "proxy-nca-pp: mixed": (lambda c, d: losses.ProxyNCALoss(c, d, softmax_scale=9), ("proxies", False)),
    "proxy-nca-pp: mixed, temperature 1.0": (lambda c, d: losses.ProxyNCALoss(c, d, softmax_scale=1), ("proxies", False)),
    "circle: mixed": (lambda c, d: losses.CircleLoss(m=0.4, gamma=80), None),
    "circle: two of each": (lambda c, d: losses.CircleLoss(m=0.4, gamma=80), None),
    "fastap: two of each": (lambda c, d: losses.FastAPLoss(num_bins=10), None),
    "lifted-structured: two of each": (lambda c, d: losses.LiftedStructureLoss(neg_margin=1, pos_margin=0, **RAW, **MEAN), None),
    "lifted-generalized: two of each": (lambda c, d: losses.GeneralizedLiftedStructureLoss(neg_margin=1, pos_margin=0, **RAW), None),
    "snr: mixed": (lambda c, d: losses.SignalToNoiseRatioContrastiveLoss(distance=distances.SNRDistance(normalize_embeddings=False)), None),
    "snr: two of each": (lambda c, d: losses.SignalToNoiseRatioContrastiveLoss(distance=distances.SNRDistance(normalize_embeddings=False)), None),
}


def main():
    cases = {c["name"]: c for c in json.loads((HERE / "labeled.json").read_text())["cases"]}
    out = []
    for name, (make, where) in KNOWN.items():
        c = cases.get(name) or cases.get(name + ", centers 1")
        if c is None:
            print(name, "is no case;", [n for n in cases if n.startswith(name.split(":")[0])])
            continue
        z = torch.tensor(c["rows"], requires_grad=True)
        loss = make(c["classes"], z.shape[1]).double()
        if where:
            p = torch.tensor(c["params"][0]).view(c["classes"], -1)
            getattr(loss, where[0]).data.copy_(p.T if where[1] else p)
        value = loss(z, torch.tensor(c["labels"]))
        value.backward()
        out.append({"name": c["name"], "value": float(value.detach()), "gradient": z.grad.flatten().tolist()})
        if where:
            g = getattr(loss, where[0]).grad
            out[-1]["params_gradient"] = [(g.T if where[1] else g).flatten().tolist()]
        far = (z.grad.flatten() - torch.tensor(c["gradient"])).abs().max() / max(map(abs, c["gradient"]))
        print(f"{name:<40} value {float(value):.9g}, loops {c['value']:.9g}; gradient differs by {float(far):.1e}")
    (HERE / "pml.json").write_text(json.dumps({"cases": out}, indent=1) + "\n")


if __name__ == "__main__":
    main()
