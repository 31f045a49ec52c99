"""The networks of the jobs, shaped as Tercet's internal/engine/nn/model_*.go.

Activations are in place, as in torchvision. The ResNets and ViT-S/16 are written
out, with torchvision's names of parameters and timm's, so that the peers need
PyTorch alone.
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


class Bottleneck(nn.Module):
    """Version 1.5: the 3x3 convolution has the stride."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = F.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return F.relu(y, inplace=True)


class ResNet(nn.Module):
    """torchvision's, with an embedding in place of the classifier."""

    def __init__(self, block, blocks, expansion, dim):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        inputs = 64
        for stage, count in enumerate(blocks):
            layers = []
            for i in range(count):
                layers.append(block(inputs, 64 << stage, 2 if stage > 0 and i == 0 else 1))
                inputs = (64 << stage) * expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.fc = nn.Linear(inputs, dim)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.bn1(self.conv1(x)), inplace=True), 3, 2, padding=1)
        y = self.layer4(self.layer3(self.layer2(self.layer1(y))))
        return F.normalize(self.fc(y.mean(dim=(2, 3))))


def resnet18():
    return ResNet(BasicBlock, (2, 2, 2, 2), 1, 512)


def resnet50():
    return ResNet(Bottleneck, (3, 4, 6, 3), 4, 512)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        n, tokens, dim = x.shape
        q, k, v = self.qkv(x).reshape(n, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(n, tokens, dim))


class Perceptron(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-6), nn.LayerNorm(dim, eps=1e-6)
        self.attn, self.mlp = Attention(dim, heads), Perceptron(dim)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))

    def native(self):
        """The same as PyTorch's own layer, which has a fused path for inference."""
        dim, heads = self.attn.proj.out_features, self.attn.heads
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, 0, "gelu", 1e-6, batch_first=True, norm_first=True)
        layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias = self.attn.qkv.weight, self.attn.qkv.bias
        layer.self_attn.out_proj = self.attn.proj
        layer.linear1, layer.linear2 = self.mlp.fc1, self.mlp.fc2
        layer.norm1, layer.norm2 = self.norm1, self.norm2
        return layer.train(self.training)


class Patches(nn.Module):
    def __init__(self, dim, side):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, side, side)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    """timm's ViT-S/16 without its classifier: the class token of 224 x 224 pixels."""

    def __init__(self, dim=384, heads=6, blocks=12, side=16):
        super().__init__()
        self.patch_embed = Patches(dim, side)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, 1 + (224 // side) ** 2, dim))
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(blocks)])
        self.norm = nn.LayerNorm(dim, eps=1e-6)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return F.normalize(self.norm(self.blocks(x)[:, 0]))

    def native(self):
        """Turns the blocks into PyTorch's own layers."""
        self.blocks = nn.Sequential(*[b.native() for b in self.blocks])
        return self


def flops(model, x):
    """Floating-point operations (a multiply-add is two) of the products of one
    forward pass on x, in all and in the first layer that has weights."""
    counts, hooks = [], []

    def conv(m, inputs, out):
        counts.append(2 * out.numel() * m.in_channels * m.kernel_size[0] * m.kernel_size[1])

    def linear(m, inputs, out):
        counts.append(2 * out.numel() * m.in_features)

    def attention(m, inputs, out):
        counts.append(4 * out.numel() * out.shape[1])

    for m in model.modules():
        if isinstance(m, nn.Conv2d):
            hooks.append(m.register_forward_hook(conv))
        elif isinstance(m, nn.Linear):
            hooks.append(m.register_forward_hook(linear))
        elif isinstance(m, Attention):
            hooks.append(m.register_forward_hook(attention))
    training = model.training
    model.eval()
    with torch.no_grad():
        model(x)
    model.train(training)
    for h in hooks:
        h.remove()
    return sum(counts), counts[0]
