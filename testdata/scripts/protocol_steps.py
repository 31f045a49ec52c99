"""Training steps of a protocol in PyTorch, for check_protocol.py: a program of 20 steps, and single steps from the state
that Tercet had before them."""
import contextlib
import copy
import json
import struct

import numpy as np
import torch
import torch.nn.functional as F

BETAS, LR, DECAY = (0.9, 0.999), 1e-5, 4e-4


def adam(net):
    return torch.optim.Adam(net.parameters(), lr=LR, betas=BETAS, weight_decay=DECAY)


def step(net, optimizer, images, triplets):
    """Makes a step; returns its loss and mean distances of positives and negatives, as Tercet's events have them."""
    z = F.normalize(net(images))
    a, p, n = (z[list(rows)] for rows in zip(*triplets))
    loss = F.triplet_margin_loss(a, p, n, margin=1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return [float(v.detach()) for v in (loss, F.pairwise_distance(a, p).mean(), F.pairwise_distance(a, n).mean())]


def program(net, batches, dtype=torch.float32, layout=torch.contiguous_format):
    """The losses and distances of all steps. Changes net; batch norm keeps its stored statistics."""
    net.eval().to(dtype).to(memory_format=layout)
    optimizer = adam(net)
    return np.array([step(net, optimizer, x.to(dtype).contiguous(memory_format=layout), t) for x, t in batches])


@contextlib.contextmanager
def threads(n):
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    yield
    torch.set_num_threads(before)


def nudged(net):
    """net with one of its weights moved to the next number of float32."""
    net = copy.deepcopy(net)
    with torch.no_grad():
        w = net.conv1.weight.view(-1)
        w[0] = torch.nextafter(w[0], torch.tensor(1.0))
    return net


def variants(net, batches):
    """The same program in PyTorch with one change that touches rounding alone."""
    with threads(2):
        one = program(copy.deepcopy(net), batches)
    yield "2 threads for 1", one
    yield "channels last", program(copy.deepcopy(net), batches, layout=torch.channels_last)
    yield "one weight by its last bit", program(nudged(net), batches)
    yield "float64", program(copy.deepcopy(net), batches, dtype=torch.float64)


class State:
    """A checkpoint of Tercet: weights and moments of Adam under PyTorch's names, in its order of axes."""

    def __init__(self, path):
        with open(path, "rb") as f:
            header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
            data = f.read()
        self.kinds = {}
        for key, v in header.items():
            if key == "__metadata__":
                continue
            kind, _, name = key.removeprefix("optim/").rpartition("/")
            lo, hi = v["data_offsets"]
            a = np.frombuffer(data[lo:hi], "<f4").reshape(v["shape"])
            a = a.transpose(3, 2, 0, 1) if a.ndim == 4 else a.T
            self.kinds.setdefault(kind, {})[name] = torch.from_numpy(np.array(a, order="C"))

    def __getitem__(self, kind):
        return self.kinds[kind]


def restored(net, state, done, dtype):
    """A copy of net with the weights of a state, and its optimizer after so many steps."""
    net = copy.deepcopy(net).eval()
    if state is not None:
        with torch.no_grad():
            for name, p in net.named_parameters():
                p.copy_(state["model"][name])
    net.to(dtype)
    optimizer = adam(net)
    if state is not None:
        for name, p in net.named_parameters():
            optimizer.state[p] = {"step": torch.tensor(float(done)), **{k: state[k][name].to(dtype) for k in ("exp_avg", "exp_avg_sq")}}
    return net, optimizer


def norm(tensors):
    return sum(float((t.double() ** 2).sum()) for t in tensors) ** 0.5


def apart(a, b):
    """The length of the difference of two lists of tensors, as a share of that of the second."""
    return norm(x.double() - y.double() for x, y in zip(a, b)) / norm(b)


def after(net, state, done, batch, dtype):
    """One step from a state: losses and distances, the gradient and the change of the weights."""
    net, optimizer = restored(net, state, done, dtype)
    before = [p.detach().clone() for p in net.parameters()]
    scores = step(net, optimizer, batch[0].to(dtype), batch[1])
    return scores, [optimizer.state[p]["exp_avg"] for p in net.parameters()], [p.detach() - q for p, q in zip(net.parameters(), before)]


def same_state(net, path, batches, got):
    """For each step the relative differences of Tercet to PyTorch, and of both to float64, from the same state: largest
    of loss and distances, gradient, change of the weights. got are Tercet's scores; path(k) is its checkpoint after
    step k."""
    state = None
    for k, batch in enumerate(batches):
        next_state = State(path(k + 1))
        names = [n for n, _ in net.named_parameters()]
        exact, single = (after(net, state, k, batch, t) for t in (torch.float64, torch.float32))
        old = dict(net.named_parameters()) if state is None else state["model"]
        own = got[k], [next_state["exp_avg"][n] for n in names], [next_state["model"][n].double() - old[n].detach().double() for n in names]
        beta = BETAS[0]
        moments = [torch.zeros_like(p) if state is None else state["exp_avg"][n] for n, p in net.named_parameters()]
        gradients = [[(m.double() - beta * m0.double()) / (1 - beta) for m, m0 in zip(x[1], moments)] for x in (own, single, exact)]
        yield {
            "loss": (own[0][0], single[0][0], exact[0][0]),
            "scores": [relative(x, y) for x, y in ((own[0], single[0]), (own[0], exact[0]), (single[0], exact[0]))],
            "gradient": [apart(x, y) for x, y in ((gradients[0], gradients[1]), (gradients[0], gradients[2]), (gradients[1], gradients[2]))],
            "change": [apart(x, y) for x, y in ((own[2], single[2]), (own[2], exact[2]), (single[2], exact[2]))],
        }
        state = next_state


def relative(got, want):
    """The largest relative difference; both may be 0."""
    return float((np.abs(np.array(got) - np.array(want)) / np.maximum(np.abs(want), 1e-12)).max())
