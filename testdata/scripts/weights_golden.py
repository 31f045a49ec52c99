"""Small networks of PyTorch with their embeddings, for the tests of internal/weights, with PyTorch 1.13.1 and
torchvision 0.14.1.

python3 testdata/scripts/weights_golden.py internal/weights/testdata
"""
import json
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models.resnet import BasicBlock, resnet18

out = sys.argv[1]
torch.set_num_threads(1)


def images(n, c, h, w):
    """(n, c, h, w) in [0, 1); pixel (b, y, x, channel) of Tercet's order is (7919 i mod 251) / 251 of its place i."""
    i = np.arange(n * c * h * w, dtype=np.int64)
    x = (i * 7919 % 251).astype(np.float32) / np.float32(251)
    return torch.from_numpy(x.reshape(n, h, w, c)).permute(0, 3, 1, 2).contiguous()


def narrow_resnet18(width, dim):
    """torchvision's ResNet-18 with its blocks, narrower."""
    net = resnet18(num_classes=dim)
    net.inplanes = width
    net.conv1, net.bn1 = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
    for i in range(4):
        layer = net._make_layer(BasicBlock, width << i, 2, stride=1 if i == 0 else 2)
        setattr(net, f"layer{i + 1}", layer)
    net.fc = nn.Linear(width * 8, dim)
    return net


class MLP(nn.Module):
    """DIBS, on images that are flattened in PyTorch's order."""

    def __init__(self, width):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(90, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class CNN(nn.Module):
    """DIBS, k filters, for images of 28x28 that are padded to 32x32."""

    def __init__(self, k):
        super().__init__()
        for i, (a, b) in enumerate([(1, k), (k, 2 * k), (2 * k, 4 * k)]):
            setattr(self, f"conv{i + 1}", nn.Conv2d(a, b, 3, padding=1))
            setattr(self, f"bn{i + 1}", nn.BatchNorm2d(b))
        self.fc = nn.Linear(16 * k, k)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(F.pad(x, (2, 2, 2, 2)))))
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = F.max_pool2d(F.relu(self.bn3(self.conv3(x))), 8)
        return self.fc(x.flatten(1))


def randomize(net, seed):
    torch.manual_seed(seed)
    for name, v in net.state_dict().items():
        if name.endswith("running_mean") or name.endswith(".bias"):
            v.uniform_(-0.2, 0.2)
        elif name.endswith("running_var") or v.dim() == 1:
            v.uniform_(0.5, 1.5)
        elif v.dim() > 1:
            v.normal_(0, (2 / v[0].numel()) ** 0.5)
        else:
            v.fill_(100)
    return net.eval()


golden = {}
with torch.no_grad():
    for name, net, shape in [
        ("resnet18", randomize(narrow_resnet18(2, 5), 1), (2, 3, 64, 64)),
        ("cnn", randomize(CNN(3), 2), (2, 1, 28, 28)),
        ("mlp", randomize(MLP(4), 3), (2, 3, 6, 5)),
    ]:
        z = net(images(*shape))
        state = net.state_dict()
        torch.save({"state_dict": {"module." + k: v for k, v in state.items()}} if name == "cnn" else state, os.path.join(out, name + ".pth"))
        golden[name] = z.double().tolist()
with open(os.path.join(out, "golden.json"), "w") as f:
    json.dump(golden, f)
    f.write("\n")
