"""Small files of torch.save for the tests of internal/torchfile, with PyTorch 1.13.1.

python3 testdata/scripts/torchfile_golden.py internal/torchfile/testdata
"""
import json
import os
import sys
from collections import OrderedDict

import torch

out = sys.argv[1]


def numbers(*shape, start=0):
    n = 1
    for d in shape:
        n *= d
    return (torch.arange(n, dtype=torch.float32) - start).reshape(shape) / 4


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 3, 2, bias=False)
        self.bn = torch.nn.BatchNorm2d(3)
        self.fc = torch.nn.Linear(3, 2)


net = Net()
with torch.no_grad():
    for i, v in enumerate(net.state_dict().values()):
        v.copy_(numbers(*v.shape, start=i) if v.dim() else torch.tensor(12))

base = numbers(3, 4)
files = {
    "zip": net.state_dict(),
    "stream": net.state_dict(),
    "views": OrderedDict(
        transposed=base.t(), row=base[1], column=base[:, 2], every_second=base.reshape(-1)[::2], expanded=base[:1, :1].expand(2, 3)
    ),
    "views_stream": {"transposed": base.t(), "row": base[1]},
    "types": {
        "half": torch.tensor([-2.0, 65504.0]).half(), "bfloat16": torch.tensor([-2.0, 3.140625]).bfloat16(),
        "double": torch.tensor([-2.0, 0.1], dtype=torch.float64), "long": torch.tensor([-2, 1 << 20]),
        "int": torch.tensor([-2, 3], dtype=torch.int32), "short": torch.tensor([-2, 3], dtype=torch.int16),
        "char": torch.tensor([-2, 3], dtype=torch.int8), "byte": torch.tensor([254, 3], dtype=torch.uint8),
        "bool": torch.tensor([True, False]), "empty": torch.zeros(0, 3), "scalar": torch.tensor(2.5),
    },
    "wrapped": {
        "epoch": 3, "lr": 0.1, "big": 1 << 40, "huge": 1 << 80, "note": None, "flags": [True, False, (1, 2)],
        "state_dict": OrderedDict(("module." + k, v) for k, v in net.state_dict().items()),
        "optimizer": {"state": {0: {"step": 5, "exp_avg": numbers(3)}}, "param_groups": [{"params": [0, 1], "betas": (0.9, 0.999)}]},
    },
    "parameters": {"weight": torch.nn.Parameter(numbers(2, 3)), "name": "a text"},
    "teacher_student": {"teacher": net.state_dict(), "student": net.state_dict()},
    "tensor": base,
}


def tensors(d):
    while True:
        inner = [k for k in ("state_dict", "model", "model_state_dict") if isinstance(d.get(k), dict)]
        if not inner:
            break
        d = d[inner[0]]
    return [[k, list(v.shape), v.double().reshape(-1).tolist()] for k, v in d.items() if isinstance(v, torch.Tensor)]


golden = {}
for name, content in files.items():
    torch.save(content, os.path.join(out, name + ".pth"), _use_new_zipfile_serialization="stream" not in name)
    if isinstance(content, dict):
        golden[name] = tensors(content)
with open(os.path.join(out, "golden.json"), "w") as f:
    json.dump(golden, f, separators=(",", ":"))
    f.write("\n")
