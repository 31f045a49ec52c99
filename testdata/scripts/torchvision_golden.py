#!/usr/bin/env python3
"""Golden outputs and gradients of torchvision's ResNets for internal/engine/nn.

    python3 testdata/scripts/torchvision_golden.py internal/engine/nn/testdata/torchvision.json
    python3 testdata/scripts/torchvision_golden.py internal/engine/nn/testdata/vit.json 64 1 vit
    python3 testdata/scripts/torchvision_golden.py OUT.json 224 2      (`make backbones`: other sizes and weights)

Made with torch 1.13.1 and torchvision 0.14.1. Weights, batch norm statistics and images are too large to
store: both sides draw them by a counter hash of the tensor's name, so that the file holds what PyTorch computes of
them alone: names and shapes of the state dict; the embeddings of two images of 224x224 and one of 97x131 pixels; the
same with other pooling, heads and a mean and standard deviation; and the gradients of a triplet loss on six images
(SIDE x SIDE) in float64, with the stored statistics and with those of the batch, at eight places of each parameter
with the parameter's norm, and the running statistics afterwards. Arrays are base64 of little-endian float32.

The file of the vision transformer has the same of ViT-S/16: torchvision's VisionTransformer with the tensors under
timm's names.
"""
import base64
import json
import sys
import zlib

import numpy as np
import torch
import torch.nn.functional as F
import torchvision

out = sys.argv[1]
side = int(sys.argv[2]) if len(sys.argv) > 2 else 64
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
vit = len(sys.argv) > 4 and sys.argv[4] == "vit"
torch.set_num_threads(2)

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def hashed(name, n):
    """n numbers in [0, 1): splitmix64's finalizer of a counter that begins with the name's CRC-32 and the seed."""
    with np.errstate(over="ignore"):
        z = np.uint64((zlib.crc32(name.encode()) << 24) + (seed << 56)) + np.arange(n, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / (1 << 24)


def draw(name, shape):
    """The tensor of that name: weights of matrices as He's uniform law, others around those of a fresh batch norm."""
    u = hashed(name, int(np.prod(shape)))
    if len(shape) > 1:
        v = (2 * u - 1) * np.sqrt(6 / np.prod(shape[1:]))
    elif name.endswith(("bn2.weight", "bn3.weight")):  # small branches beside the shortcut: gradients of deep nets without chaos
        v = 0.1 + 0.2 * u
    elif name.endswith("running_var") or name.endswith("weight"):
        v = 0.5 + u
    else:
        v = 0.4 * u - 0.2
    return torch.tensor(v.astype(np.float32).reshape(shape))


def images(name, n, h, w):
    x = hashed(name, n * h * w * 3).astype(np.float32).reshape(n, h, w, 3)
    return torch.tensor(x).permute(0, 3, 1, 2).contiguous()


def pack(t):
    return base64.b64encode(t.detach().contiguous().numpy().astype("<f4").tobytes()).decode()


def timm(name):
    """timm's name of a tensor of torchvision's VisionTransformer."""
    for theirs, ours in [("class_token", "cls_token"), ("encoder.pos_embedding", "pos_embed"), ("conv_proj", "patch_embed.proj"),
                         ("encoder.layers.encoder_layer_", "blocks."), ("encoder.ln", "norm"), ("ln_", "norm"),
                         ("self_attention.in_proj_", "attn.qkv."), ("self_attention.out_proj", "attn.proj"),
                         ("mlp.linear_1", "mlp.fc1"), ("mlp.linear_2", "mlp.fc2"), ("mlp.0", "mlp.fc1"), ("mlp.3", "mlp.fc2"),
                         ("heads.head", "fc")]:
        name = name.replace(theirs, ours)
    return name


def transformer(size, dim):
    """ViT-S/16 with a linear layer of dim outputs, or without where dim is 0."""
    m = torchvision.models.VisionTransformer(image_size=size, patch_size=16, num_layers=12, num_heads=6, hidden_dim=384,
                                             mlp_dim=1536, num_classes=max(dim, 1))
    sd = m.state_dict()
    for k, v in sd.items():
        sd[k] = draw(timm(k), tuple(v.shape))
    m.load_state_dict(sd)
    if dim == 0:
        m.heads = torch.nn.Identity()
    return m


def fresh(name, dim):
    if name == "vit-s16":
        return transformer(side, dim)
    m = getattr(torchvision.models, name)(num_classes=dim)
    sd = m.state_dict()
    for k, v in sd.items():
        if v.dtype == torch.float32:
            sd[k] = draw(k, tuple(v.shape))
    m.load_state_dict(sd)
    return m


def trunk(m, x):
    x = m.maxpool(m.relu(m.bn1(m.conv1(x))))
    return m.layer4(m.layer3(m.layer2(m.layer1(x))))


def places(name, n):
    return np.unique((hashed("places " + name, 8) * n).astype(np.int64))


def samples(name, t):
    v = t.detach().numpy().reshape(-1)
    at = places(name, v.size)
    return {"norm": float(np.sqrt((v.astype(np.float64) ** 2).sum())), "max": float(np.abs(v).max()), "at": pack(torch.tensor(v[at]))}


def deviation(a, b):
    """The largest relative deviation of the gradients of a from those of b, each tensor to its largest number."""
    return max(float(np.abs(a[k].astype(np.float64) - b[k]).max() / np.abs(b[k]).max()) for k in b)


def gradients(name, train):
    """In float64, on the first images where float32 is near it: where no number is so near to a ReLU's corner that
    rounding moves it across."""
    for k in range(20):
        batch = "triplets%d" % k
        exact, doc = step(name, train, torch.float64, batch)
        single, _ = step(name, train, torch.float32, batch)
        doc["noise"], doc["images"] = deviation(single, exact), batch
        if doc["noise"] < 1e-4:
            return doc
    sys.exit("no batch found for %s" % name)


def step(name, train, dtype, batch):
    m = fresh(name, 64).to(dtype)
    m.train(train)
    x = images(batch, 6, side, side).to(dtype).requires_grad_(True)
    z = F.normalize(m(x))
    a, p, n = z[0::3], z[1::3], z[2::3]
    loss = ((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1)).mean()
    loss.backward()
    doc = {"loss": loss.item(), "embeddings": pack(z)}
    grads = {(timm(k) if vit else k): p.grad for k, p in m.named_parameters()}
    grads["images"] = x.grad.permute(0, 2, 3, 1).contiguous()
    doc["grads"] = {k: samples(k, g) for k, g in grads.items()}
    if train:
        doc["running"] = {k: samples(k, b) for k, b in m.named_buffers() if "running" in k}
    return {k: g.numpy() for k, g in grads.items()}, doc


VARIANTS = [("max", "none"), ("avg+max", "linear"), ("max", "layernorm"), ("avg", "layernorm-linear")]


def variant(m, x, pool, head):
    mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in (MEAN, STD))
    x = trunk(m, (x - mean) / std)
    f = {"avg": x.mean((2, 3)), "max": x.amax((2, 3))}
    f["avg+max"] = f["avg"] + f["max"]
    f = f[pool]
    if head.startswith("layernorm"):
        f = F.layer_norm(f, f.shape[1:])
    return m.fc(f) if head.endswith("linear") else f


doc = {"torch": torch.__version__, "torchvision": torchvision.__version__, "seed": seed, "side": side, "nets": {}}
if vit:
    m = transformer(224, 0).eval()
    net = {"state": [[timm(k), list(v.shape)] for k, v in m.state_dict().items()]}
    with torch.no_grad():
        net["square"] = pack(m(images("square", 2, 224, 224)))
    net["frozen"] = gradients("vit-s16", False)
    doc["nets"]["vit-s16"] = net
for name in () if vit else ("resnet18", "resnet34", "resnet50"):
    m = fresh(name, 512).eval()
    net = {"state": [[k, list(v.shape)] for k, v in m.state_dict().items() if v.dtype == torch.float32]}
    with torch.no_grad():
        net["square"] = pack(m(images("square", 2, 224, 224)))
        net["wide"] = pack(m(images("wide", 1, 97, 131)))
        if name == "resnet18":
            net["variants"] = [{"pool": p, "head": h, "z": pack(variant(m, images("wide", 1, 97, 131), p, h))} for p, h in VARIANTS]
    net["frozen"], net["train"] = gradients(name, False), gradients(name, True)
    doc["nets"][name] = net
with open(out, "w") as f:
    f.write(json.dumps(doc, separators=(",", ":")).replace('"nets":', '\n"nets":').replace('},"resnet', '},\n"resnet') + "\n")
