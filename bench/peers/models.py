"""The networks of the jobs, shaped as Tercet's internal/engine/nn/model_*.go.

Activations are in place, as in torchvision. ResNet-18 is written out, since
Debian has no torchvision.
"""

import torch
from torch import nn
from torch.nn import functional as F


def mlp():
    """DIBS MLP 784-200-200-200."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 200), nn.ReLU(inplace=True),
        nn.Linear(200, 200), nn.ReLU(inplace=True),
        nn.Linear(200, 200),
    )


def cnn(units=47):
    """DIBS CNN as its text has it: filters k, 2k, 2k, pools 1, 2, 8, FC 2k."""
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]

    return nn.Sequential(
        *block(1, units),
        *block(units, 2 * units), nn.MaxPool2d(2),
        *block(2 * units, 2 * units), nn.MaxPool2d(8),
        nn.Flatten(), nn.Linear(2 * units, 2 * units),
    )


def c2f2():
    """robrank's rc2f2."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(3136, 1024), nn.ReLU(inplace=True),
        nn.Linear(1024, 512),
        Normalize(),
    )


class Normalize(nn.Module):
    """Rows of length 1."""

    def forward(self, x):
        return F.normalize(x)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += x if self.downsample is None else self.downsample(x)
        return F.relu(y, inplace=True)


class ResNet18(nn.Module):
    """torchvision's ResNet-18 with an embedding of 512 in place of the classifier."""

    def __init__(self):
        super().__init__()
        layers = [
            nn.Conv2d(3, 64, 7, 2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, padding=1),
        ]
        inputs = 64
        for stage in range(4):
            outputs = 64 << stage
            for block in range(2):
                layers.append(BasicBlock(inputs, outputs, 2 if stage > 0 and block == 0 else 1))
                inputs = outputs
        self.body = nn.Sequential(*layers)
        self.fc = nn.Linear(512, 512)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        y = self.body(x).mean(dim=(2, 3))
        return F.normalize(self.fc(y))


def flops(model, x):
    """Floating-point operations (a multiply-add is two) of the products of one
    forward pass on x, in all and in the first layer that has weights."""
    counts, hooks = [], []

    def conv(m, inputs, out):
        counts.append(2 * out.numel() * m.in_channels * m.kernel_size[0] * m.kernel_size[1])

    def linear(m, inputs, out):
        counts.append(2 * out.numel() * m.in_features)

    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            hooks.append(m.register_forward_hook(conv))
        elif isinstance(m, nn.Linear):
            hooks.append(m.register_forward_hook(linear))
    training = model.training
    model.eval()
    with torch.no_grad():
        model(x)
    model.train(training)
    for h in hooks:
        h.remove()
    return sum(counts), counts[0]
