"""The job of losses with PyTorch: value and gradient, by matrices of a whole batch and masks,
as pytorch-metric-learning writes them. Autograd takes the gradients.

    python3 bench/peers/losses.py    # compares values with plain loops on small batches
"""

import math

import machine

ROWS, DIMENSIONS, CLASSES = 512, 512, 11318
QUICK = (128, 128, 1000)


def build(torch):
    """The losses by name: f(z, labels, parameters) -> value, and the shapes of parameters."""
    F = torch.nn.functional
    softplus = lambda x: F.softplus(x, threshold=1e9)

    def cosines(z):
        z = F.normalize(z)
        return z @ z.T

    def masks(y):
        same = y[:, None] == y[None]
        return same & ~torch.eye(len(y), dtype=torch.bool), ~same

    def lse(x, mask):
        return torch.logsumexp(x.masked_fill(~mask, -math.inf), 1)

    def some(values, mask):
        return values[mask].mean() if mask.any() else values.sum() * 0

    def active(values):
        """The mean of the values above 0."""
        return values.sum() / max(int((values > 0).sum()), 1)

    def triplets(y):
        positive, negative = masks(y)
        return torch.where(positive[:, :, None] & negative[:, None, :])

    def triplet(z, y, p):
        a, pos, neg = triplets(y)
        d = torch.cdist(z, z)
        return F.relu(d[a, pos] - d[a, neg] + 0.2).mean()

    def margin(z, y, p):
        a, pos, neg = triplets(y)
        d = torch.cdist(z, z)
        beta = p[0][y[a]]
        return active(torch.cat([F.relu(d[a, pos] - beta + 0.2), F.relu(beta - d[a, neg] + 0.2)]))

    def contrastive(z, y, p):
        d = torch.cdist(z, z)
        i, j = torch.triu_indices(len(z), len(z), 1)
        same = y[i] == y[j]
        return torch.where(same, d[i, j] ** 2, F.relu(1 - d[i, j]) ** 2).mean()

    def multi_similarity(z, y, p):
        s = cosines(z)
        positive, negative = masks(y)
        with torch.no_grad():
            hardest = s.masked_fill(~negative, -math.inf).max(1, keepdim=True).values
            easiest = s.masked_fill(~positive, math.inf).min(1, keepdim=True).values
            positive, negative = positive & (s - 0.1 < hardest), negative & (s + 0.1 > easiest)
        zero = torch.zeros(len(z), 1)
        pull = torch.logsumexp(torch.cat([zero, (-2 * (s - 0.5)).masked_fill(~positive, -math.inf)], 1), 1) / 2
        push = torch.logsumexp(torch.cat([zero, (50 * (s - 0.5)).masked_fill(~negative, -math.inf)], 1), 1) / 50
        return (pull + push).mean()

    def circle(z, y, p):
        s, gamma, m = cosines(z), 80, 0.4
        positive, negative = masks(y)
        pull = -gamma * F.relu(1 + m - s.detach()) * (s - (1 - m))
        push = gamma * F.relu(s.detach() + m) * (s - m)
        both = positive.any(1) & negative.any(1)
        return some(softplus(lse(pull, positive) + lse(push, negative)), both)

    def nt_xent(z, y, p):
        s = cosines(z) / 0.07
        positive, _ = masks(y)
        below = lse(s, ~torch.eye(len(z), dtype=torch.bool))
        return (below[:, None] - s)[positive].mean()

    def supcon(z, y, p):
        s = cosines(z) / 0.1
        positive, _ = masks(y)
        below = lse(s, ~torch.eye(len(z), dtype=torch.bool))
        return some(((below[:, None] - s) * positive).sum(1) / positive.sum(1).clamp(min=1), positive.any(1))

    def proxy_anchor(z, y, p):
        s = F.normalize(p[0]) @ F.normalize(z).T
        own = torch.arange(len(p[0]))[:, None] == y[None]
        zero = torch.zeros(len(s), 1)
        pull = torch.logsumexp(torch.cat([zero, (-32 * (s - 0.1)).masked_fill(~own, -math.inf)], 1), 1)
        push = torch.logsumexp(torch.cat([zero, (32 * (s + 0.1)).masked_fill(own, -math.inf)], 1), 1)
        return pull.sum() / own.any(1).sum() + push.mean()

    def softmax(scale, reduced):
        def f(z, y, p):
            s = F.normalize(z) @ F.normalize(p[0]).T
            target = F.one_hot(y, len(p[0])).bool()
            return F.cross_entropy(scale * torch.where(target, reduced(s), s), y)
        return f

    def angular_margin(s, m=0.5):
        angle = torch.acos(s.clamp(-1 + 1e-7, 1 - 1e-7))
        return torch.where(angle <= math.pi - m, torch.cos(angle + m), s - m * math.sin(m))

    def proxy_nca_pp(z, y, p):
        return F.cross_entropy(-9 * torch.cdist(F.normalize(z), F.normalize(p[0])) ** 2, y)

    def soft_triple(z, y, p):
        k, w = 10, F.normalize(p[0])
        s = (F.normalize(z) @ w.T).view(len(z), -1, k)
        s = (torch.softmax(s / 0.1, 2) * s).sum(2)
        logits = 20 * (s - 0.01 * F.one_hot(y, s.shape[1]))
        c = w.view(-1, k, w.shape[1])
        products = c @ c.transpose(1, 2)
        i, j = torch.triu_indices(k, k, 1)
        merge = torch.sqrt(2 + 1e-5 - 2 * products[:, i, j]).sum() / (len(c) * k * (k - 1))
        return F.cross_entropy(logits, y) + 0.2 * merge

    def fastap(z, y, p, bins=10):
        positive, negative = masks(y)
        width = 4 / bins
        d = 2 - 2 * cosines(z)
        centers = torch.arange(bins + 1) * width
        h = F.relu(1 - (d[:, :, None] - centers).abs() / width)
        own, rest = (h * positive[:, :, None]).sum(1), (h * negative[:, :, None]).sum(1)
        below, total = own.cumsum(1), (own + rest).cumsum(1)
        ap = torch.where(total > 0, own * below / total.clamp(min=1e-30), torch.zeros(())).sum(1) / positive.sum(1).clamp(min=1)
        return some(1 - ap, positive.any(1))

    def lifted_structured(z, y, p):
        d = torch.cdist(z, z)
        positive, negative = masks(y)
        push = lse(1 - d, negative)
        i, j = torch.where(positive.triu())
        return (F.relu(d[i, j] + torch.logaddexp(push[i], push[j])) ** 2 / 2).mean()

    def lifted_generalized(z, y, p):
        d = torch.cdist(z, z)
        positive, negative = masks(y)
        return some(F.relu(lse(d, positive) + lse(1 - d, negative)), positive.any(1) & negative.any(1))

    def angular(z, y, p):
        z, t = F.normalize(z), math.tan(math.radians(40)) ** 2
        positive, negative = masks(y)
        i, j = torch.where(positive.triu())
        f = 4 * t * (z[i] + z[j]) @ z.T - 2 * (1 + t) * (z[i] * z[j]).sum(1, keepdim=True)
        f = torch.cat([torch.zeros(len(i), 1), f.masked_fill(~negative[i], -math.inf)], 1)
        return torch.logsumexp(f, 1).mean()

    def n_pairs(z, y, p):
        order = torch.argsort(y, stable=True)
        _, counts = torch.unique_consecutive(y[order], return_counts=True)
        first = torch.cumsum(counts, 0) - counts
        first = first[counts > 1]
        a, q = z[order[first]], z[order[first + 1]]
        return F.cross_entropy(a @ q.T, torch.arange(len(a))) + 0.02 / 4 * ((a ** 2).sum(1) + (q ** 2).sum(1)).mean()

    def snr(z, y, p):
        positive, negative = masks(y)
        r = torch.var(z[None] - z[:, None], 2) / torch.var(z, 1)[:, None]
        return active(F.relu(r[positive])) + active(F.relu(1 - r[negative]))

    def smooth_ap(z, y, p):
        s = cosines(z)
        positive, _ = masks(y)
        above = torch.sigmoid((s[:, None, :] - s[:, :, None]) / 0.01)  # [q, i, j]
        above = above * ~torch.eye(len(z), dtype=torch.bool)[None]
        above = above * ~torch.eye(len(z), dtype=torch.bool)[:, None, :]  # not the query itself
        rank, own = 1 + above.sum(2), 1 + (above * positive[:, None, :]).sum(2)
        return some(1 - (own / rank * positive).sum(1) / positive.sum(1).clamp(min=1), positive.any(1))

    def vicreg(z, y, p):
        value = 25 * ((z[::2] - z[1::2]) ** 2).sum(1).mean()
        for x in (z[::2], z[1::2]):
            x = x - x.mean(0)
            c = x.T @ x / (len(x) - 1)
            value = value + 25 * F.relu(1 - torch.sqrt(c.diagonal() + 1e-4)).mean() + (c ** 2).sum().sub((c.diagonal() ** 2).sum()) / len(c)
        return value

    rows = lambda each: lambda classes, dim: [(classes * each, dim)]
    none = lambda classes, dim: []
    return {
        "triplet": (triplet, none), "contrastive": (contrastive, none), "margin": (margin, lambda classes, dim: [(classes,)]),
        "multi-similarity": (multi_similarity, none), "circle": (circle, none), "nt-xent": (nt_xent, none), "supcon": (supcon, none),
        "proxy-anchor": (proxy_anchor, rows(1)), "normalized-softmax": (softmax(20, lambda s: s), rows(1)),
        "cosface": (softmax(64, lambda s: s - 0.35), rows(1)), "arcface": (softmax(64, angular_margin), rows(1)),
        "proxy-nca-pp": (proxy_nca_pp, rows(1)), "soft-triple": (soft_triple, rows(10)), "fastap": (fastap, none),
        "lifted-structured": (lifted_structured, none), "lifted-generalized": (lifted_generalized, none), "angular": (angular, none),
        "n-pairs": (n_pairs, none), "snr": (snr, none), "smooth-ap": (smooth_ap, none), "vicreg": (vicreg, none),
    }


def losses(threads, seconds, quick):
    """Each loss by itself: forward and backward."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    n, dim, classes = QUICK if quick else (ROWS, DIMENSIONS, CLASSES)
    z = torch.randn(n, dim, requires_grad=True)
    y = torch.arange(n) // 4 * (classes // (n // 4))
    parts, known = [], build(torch)
    for name, (f, shapes) in known.items():
        params = [torch.randn(shape, requires_grad=True) for shape in shapes(classes, dim)]

        def run():
            for x in [z, *params]:
                x.grad = None
            f(z, y, params).backward()

        t = machine.repeat(run, seconds / len(known), warm_up=1)
        parts.append({"name": name, "seconds": t.median, "seconds_best": t.best})
    return {"seconds": sum(p["seconds"] for p in parts), "seconds_best": sum(p["seconds_best"] for p in parts), "repetitions": 0,
            "parts": parts, "versions": machine.versions(torch)}


def check():
    """Values and gradients are those of the plain loops of labeled_losses_golden.py."""
    import json
    import pathlib

    import torch

    torch.set_default_dtype(torch.float64)
    golden = pathlib.Path(__file__).parents[2] / "internal/engine/loss/labeled/testdata/labeled.json"
    cases = {c["name"]: c for c in json.loads(golden.read_text())["cases"]}
    for name, (f, _) in build(torch).items():
        what = "two of each" if name == "vicreg" else "mixed"
        c = cases.get(f"{name}: {what}") or cases.get(f"{name}: {what}, centers 3")
        if c is None or name in ("soft-triple", "vicreg", "margin"):
            continue  # other numbers of centers, other rows of the views, distances without eps
        z = torch.tensor(c["rows"], requires_grad=True)
        params = [torch.tensor(p).view(c["classes"], -1) for p in c["params"]]
        value = f(z, torch.tensor(c["labels"]), params)
        value.backward()
        far = (z.grad.flatten() - torch.tensor(c["gradient"])).abs().max() / max(map(abs, c["gradient"]))
        print(f"{name:<20} value {float(value):.9g}, loops {c['value']:.9g}; gradient differs by {float(far):.1e}")


JOBS = {"losses": losses}

if __name__ == "__main__":
    check()
