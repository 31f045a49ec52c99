"""Training jobs: one repetition is one optimizer step on a batch in memory.

The learning rate is so small that the network stays what it is after the first
steps: a long measurement does the same work as a short one.
"""

import torch
from torch import nn
from torch.nn import functional as F

import machine
import models

LEARNING_RATE = 1e-6
SEED = 0


class Job:
    """A training job.

    build makes the model, pixels (channels, side) are its images. A batch is
    `groups` pairs (group 2) or triplets (group 3); contrast is the share of its
    class in an image; eps, alpha and steps are those of PGD.
    """

    def __init__(self, build, pixels, group, groups, loss, contrast=0.4, eps=0.0, alpha=0.0, steps=0, batches=4):
        self.build, self.pixels, self.group, self.groups = build, pixels, group, groups
        self.loss, self.contrast, self.eps, self.alpha, self.steps, self.batches = loss, contrast, eps, alpha, steps, batches

    @property
    def images(self):
        return self.group * self.groups


def contrastive(z, similar):
    """Hadsell, Chopra & LeCun 2006, margin 1: mean of d^2 for similar pairs and
    max(0, 1 - d)^2 for others."""
    d = F.pairwise_distance(*z.chunk(2))
    return torch.where(similar, d * d, F.relu(1 - d) ** 2).mean()


def cosine(z, similar):
    """PyTorch's cosine embedding loss, with DIBS's margin cos(60 degrees)."""
    return F.cosine_embedding_loss(*z.chunk(2), similar.float() * 2 - 1, margin=0.5)


def triplet(z, _):
    """Hinge on Euclidean distances, margin 0.2; rows are anchors, positives,
    negatives."""
    return F.triplet_margin_loss(*z.chunk(3), margin=MARGIN)


MARGIN = 0.2

RESNET = dict(build=models.resnet18, group=3, loss=triplet, contrast=0.5, batches=2)

JOBS = {
    "mlp": Job(models.mlp, (1, 28), 2, 128, contrastive, batches=16),
    "cnn47": Job(models.cnn, (1, 28), 2, 128, cosine),
    "c2f2": Job(models.c2f2, (1, 28), 3, 128, triplet),
    "c2f2-hm8": Job(models.c2f2, (1, 28), 3, 128, triplet, eps=77 / 255, alpha=3 / 255, steps=8),
    "rn18": Job(pixels=(3, 224), groups=8, **RESNET),
    "rn18-64": Job(pixels=(3, 64), groups=32, **RESNET),
    "rn18-hm8": Job(pixels=(3, 224), groups=4, eps=8 / 255, alpha=1 / 255, steps=8, **RESNET),
    "rn50": Job(models.resnet50, (3, 224), 3, 4, triplet, contrast=0.5, batches=2),
    "vits16": Job(models.ViT, (3, 224), 3, 4, triplet, contrast=0.5, batches=2),
}


def images(job, generator):
    """A batch in [0, 1]: anchors and positives share a pattern of 4 x 4 cells
    under noise of their own, so that some triplets are hard and some are not, and
    hardness manipulation has work to do."""
    channels, side = job.pixels
    n = job.groups

    def pattern():
        coarse = torch.rand(n, channels, 4, 4, generator=generator)
        return F.interpolate((coarse > 0.5).float(), size=(side, side))

    def noisy(x):
        return job.contrast * x + (1 - job.contrast) * torch.rand(x.shape, generator=generator)

    first, other = pattern(), pattern()
    if job.group == 3:
        return torch.cat([noisy(first), noisy(first), noisy(other)])
    similar = torch.arange(n).view(-1, 1, 1, 1) % 2 == 0
    return torch.cat([noisy(first), noisy(torch.where(similar, first, other))])


class Run:
    """A job at work: step() is one optimizer step."""

    def __init__(self, job, layout, foreach):
        torch.manual_seed(SEED)
        generator = torch.Generator().manual_seed(SEED)
        self.job = job
        self.model = job.build()
        self.batches = [images(job, generator) for _ in range(job.batches)]
        self.similar = torch.arange(job.groups) % 2 == 0
        if layout == "channels_last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.batches = [x.contiguous(memory_format=torch.channels_last) for x in self.batches]
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=LEARNING_RATE, foreach=foreach)
        self.steps = 0
        self.last_loss = 2.0  # of the step before, as robrank starts it

    def step(self):
        x = self.batches[self.steps % len(self.batches)]
        self.steps += 1
        self.optimizer.zero_grad(set_to_none=True)  # first: the passes need the memory
        if self.job.steps > 0:
            x = self.craft(x)
        self.model.train()
        loss = self.job.loss(self.model(x), self.similar)
        loss.backward()
        self.optimizer.step()
        self.last_loss = loss.item()

    def craft(self, clean):
        """HM[., g_LGA] (Zhou & Patel, CVPR 2022): PGD that minimises the mean of
        min(0, H - H_D)^2, H = d(a,p) - d(a,n), towards H_D = -margin * min(l, u)/u,
        where l is the loss of the step before and u is the margin."""
        job = self.job
        destination = -MARGIN * min(self.last_loss, MARGIN) / MARGIN
        self.model.eval()
        for p in self.parameters:
            p.requires_grad_(False)
        x = clean.clone()
        low, high = (clean - job.eps).clamp_(min=0), (clean + job.eps).clamp_(max=1)
        for _ in range(job.steps):
            x.requires_grad_(True)
            a, p, n = self.model(x).chunk(3)
            hardness = F.pairwise_distance(a, p) - F.pairwise_distance(a, n)
            loss = (hardness - destination).clamp(max=0).square().mean()
            gradient, = torch.autograd.grad(loss, x)
            with torch.no_grad():
                x = x.detach().sub_(gradient.sign_(), alpha=job.alpha)
                torch.maximum(x, low, out=x)
                torch.minimum(x, high, out=x)
        for p in self.parameters:
            p.requires_grad_(True)
        return x

    def flops(self):
        """Of one step: a backward pass is twice a forward one, less the input
        gradient of the first layer, which only crafting computes."""
        forward, first = models.flops(self.model, self.batches[0])
        crafting = self.job.steps * 2 * forward
        return crafting + 3 * forward - first


def measure(name, threads, seconds, least, layout, form):
    torch.set_num_threads(threads)
    job = JOBS[name]
    run = Run(job, layout, form == "foreach")
    times = machine.repeat(run.step, seconds, least=least)
    peak = machine.peak_rss_kb()
    flops = run.flops()
    return {
        "images_per_step": job.images,
        "images_per_s": job.images / times.median,
        "images_per_s_best": job.images / times.best,
        "flops": flops,
        "gflops": flops / times.median / 1e9,
        "gflops_best": flops / times.best / 1e9,
        "layout": layout,
        "form": form,
        "loss": run.last_loss,
        "peak_rss_kb": peak,
        "times": times,
        "versions": machine.versions(torch),
    }
