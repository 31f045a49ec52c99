"""Embedding jobs: one repetition is the forward pass of a batch, in inference mode.

Forms: eager is the model as it is; frozen is traced, with batch norm folded and
layers fused for the processor, as torch.jit.optimize_for_inference makes it; native
has PyTorch's own transformer layers, whose inference is fused.
"""

import torch

import machine
import models

IMAGES = 8
SEED = 0

JOBS = {"rn50-embed": models.resnet50, "vits16-embed": models.ViT}


def measure(name, threads, seconds, least, layout, form):
    torch.set_num_threads(threads)
    torch.manual_seed(SEED)
    model = JOBS[name]().eval()
    x = torch.rand(IMAGES, 3, 224, 224)
    flops, _ = models.flops(model, x)
    if layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        x = x.contiguous(memory_format=torch.channels_last)
    if form == "native":
        model = model.native()
    if form == "frozen":
        with torch.no_grad():
            model = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, x)))

    def run():
        with torch.inference_mode():
            model(x)

    times = machine.repeat(run, seconds, warm_up=3, least=least)
    return {
        "images_per_step": IMAGES,
        "images_per_s": IMAGES / times.median,
        "images_per_s_best": IMAGES / times.best,
        "flops": flops,
        "gflops": flops / times.median / 1e9,
        "gflops_best": flops / times.best / 1e9,
        "layout": layout,
        "form": form,
        "times": times,
        "versions": machine.versions(torch),
    }
