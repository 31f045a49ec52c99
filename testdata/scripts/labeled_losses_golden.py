"""Values and gradients of the losses on labels, in float64 by plain loops, from their papers.

Writes internal/engine/loss/labeled/testdata/labeled.json. Needs PyTorch (1.13) for its automatic differentiation alone: each
loss below is written from its formula, one image, pair or proxy at a time.
"""

import json
import math
import pathlib
import random

import torch

torch.set_default_dtype(torch.float64)
LOSSES = {}


def loss(name, **defaults):
    def keep(f):
        LOSSES[name] = (f, defaults)
        return f
    return keep


def unit(x):
    return [row / row.norm() if row.norm() > 0 else row * 0 for row in x]


def cosines(a, b):
    a, b = unit(a), unit(b)
    return [[(x * y).sum() for y in b] for x in a]


def others(labels, i):
    """Rows of the same class but i, and rows of other classes."""
    same = [j for j in range(len(labels)) if j != i and labels[j] == labels[i]]
    return same, [j for j in range(len(labels)) if labels[j] != labels[i]]


def lse(terms):
    return torch.logsumexp(torch.stack(terms), 0) if terms else torch.tensor(-math.inf)


def mean(terms):
    return sum(terms) / len(terms) if terms else torch.tensor(0.0)


def soft_pairs(s, labels, o):
    """Of each anchor: the terms of its positives, rows of its class or views of its image."""
    labels = o["items"] if o.get("positives") == "views" else labels
    t = o["temperature"]
    out = []
    for i in range(len(labels)):
        same, rest = others(labels, i)
        out.append([])
        for p in same:
            below = same + rest if o["denominator"] == "all" else [p] + rest
            out[-1].append(lse([s[i][a] / t for a in below]) - s[i][p] / t)
    return out


@loss("supcon", temperature=0.1, denominator="all", variant="paper")
def supcon(z, labels, params, o):
    anchors = [mean(terms) for terms in soft_pairs(cosines(z, z), labels, o) if terms]
    return mean(anchors) * (o["temperature"] / 0.07 if o["variant"] == "published" else 1)


@loss("nt-xent", temperature=0.07, denominator="all", positives="classes")
def nt_xent(z, labels, params, o):
    return mean([t for terms in soft_pairs(cosines(z, z), labels, o) for t in terms])


@loss("proxy-anchor", alpha=32.0, delta=0.1)
def proxy_anchor(z, labels, params, o):
    s = cosines(params[0], z)
    pull, push = [], []
    for p in range(len(s)):
        own = [-o["alpha"] * (c - o["delta"]) for c, y in zip(s[p], labels) if y == p]
        rest = [o["alpha"] * (c + o["delta"]) for c, y in zip(s[p], labels) if y != p]
        zero = [torch.tensor(0.0)]
        if own:
            pull.append(lse(zero + own))
        push.append(lse(zero + rest))
    return mean(pull) + mean(push)


def softmax_loss(logits, y, o):
    """Cross entropy, of which a share is spread over all classes, as torch.nn.CrossEntropyLoss has it."""
    e = o["smoothing"]
    return lse(logits) - (1 - e) * logits[y] - e * mean(logits)


def class_cosines(z, w, o):
    """Of each row and class: the cosines to the class's vectors."""
    k = o.get("centers", 1)
    return [[row[c : c + k] for c in range(0, len(row), k)] for row in cosines(z, w)]


def margin_softmax(z, labels, params, o, reduced):
    terms = []
    for row, y in zip(class_cosines(z, params[0], o), labels):
        best = [max(own) for own in row]
        terms.append(softmax_loss([o["scale"] * (reduced(c) if k == y else c) for k, c in enumerate(best)], y, o))
    return mean(terms)


@loss("normalized-softmax", scale=20.0, centers=1, smoothing=0.0)
def normalized_softmax(z, labels, params, o):
    return margin_softmax(z, labels, params, o, lambda c: c)


@loss("cosface", scale=64.0, margin=0.35, centers=1, smoothing=0.0)
def cosface(z, labels, params, o):
    return margin_softmax(z, labels, params, o, lambda c: c - o["margin"])


@loss("arcface", scale=64.0, margin=0.5, centers=1, smoothing=0.0)
def arcface(z, labels, params, o):
    def reduced(c):
        angle = torch.acos(c.clamp(-1 + 1e-12, 1 - 1e-12))
        if float(angle) > math.pi - o["margin"]:
            return c - o["margin"] * math.sin(o["margin"])
        return torch.cos(angle + o["margin"])

    return margin_softmax(z, labels, params, o, reduced)


def proxy_nca(z, labels, params, o):
    z, w, terms = unit(z), unit(params[0]), []
    for x, y in zip(z, labels):
        near = [-((x - p) ** 2).sum() / o["temperature"] for p in w]
        below = near if o["denominator"] == "all" else [n for k, n in enumerate(near) if k != y]
        terms.append(lse(below) - near[y])
    return mean(terms)


loss("proxy-nca", temperature=1.0, denominator="negatives")(proxy_nca)
loss("proxy-nca-pp", temperature=1 / 9, denominator="all")(proxy_nca)


@loss("soft-triple", centers=10, gamma=0.1, tau=0.2, delta=0.01, smoothing=0.0, **{"lambda": 20.0})
def soft_triple(z, labels, params, o):
    terms = []
    for row, y in zip(class_cosines(z, params[0], o), labels):
        logits = []
        for c, own in enumerate(row):
            own = torch.stack(own)
            s = (torch.softmax(own / o["gamma"], 0) * own).sum()
            logits.append(o["lambda"] * (s - (o["delta"] if c == y else 0)))
        terms.append(softmax_loss(logits, y, o))
    w, k = unit(params[0]), o["centers"]
    merge = [torch.sqrt(2 + 1e-5 - 2 * (w[a] * w[b]).sum()) for a in range(len(w)) for b in range(a) if a // k == b // k]
    return mean(terms) + (o["tau"] * sum(merge) / (len(w) // k * k * (k - 1)) if merge else 0)


@loss("circle", gamma=80.0, margin=0.4, pool="anchor")
def circle(z, labels, params, o):
    g, m, s = o["gamma"], o["margin"], cosines(z, z)

    def term(positives, negatives):
        p = [-g * float(max(1 + m - c, torch.tensor(0.0))) * (c - (1 - m)) for c in positives]
        n = [g * float(max(c + m, torch.tensor(0.0))) * (c - m) for c in negatives]
        return torch.nn.functional.softplus(lse(p) + lse(n), threshold=1e9)

    if o["pool"] == "batch":
        pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
        positives = [s[i][j] for i, j in pairs if labels[i] == labels[j]]
        negatives = [s[i][j] for i, j in pairs if labels[i] != labels[j]]
        return term(positives, negatives) if positives and negatives else torch.tensor(0.0)
    terms = []
    for i in range(len(labels)):
        same, rest = others(labels, i)
        if same and rest:
            terms.append(term([s[i][j] for j in same], [s[i][j] for j in rest]))
    return mean(terms)


@loss("smooth-ap", temperature=0.01, variant="paper")
def smooth_ap(z, labels, params, o):
    s, terms = cosines(z, z), []
    for q in range(len(labels)):
        same, rest = others(labels, q)
        if not same:
            continue
        if o["variant"] == "published":
            same = same + [q]
        above = lambda j, i: torch.sigmoid((s[q][j] - s[q][i]) / o["temperature"])
        precisions = []
        for i in same:
            own = 1 + sum(above(j, i) for j in same if j != i)
            precisions.append(own / (own + sum(above(j, i) for j in rest)))
        terms.append(1 - mean(precisions))
    return mean(terms)


@loss("fastap", bins=10, variant="paper")
def fastap(z, labels, params, o):
    s, terms, width = cosines(z, z), [], 4 / o["bins"]
    for q in range(len(labels)):
        same, rest = others(labels, q)
        if not same:
            continue

        def histogram(rows):
            return [sum((torch.relu(1 - (2 - 2 * s[q][j] - c * width).abs() / width) for j in rows), torch.tensor(0.0)) for c in range(o["bins"] + 1)]

        own, all_ = histogram(same), histogram(same + rest)
        value = torch.tensor(0.0)
        for c in range(o["bins"] + 1):
            below, total = sum(own[: c + 1]), sum(all_[: c + 1])
            if total > 0:
                value = value + own[c] * below / total
        terms.append(1 - value / len(same))
    return mean(terms)


def distances(z):
    def d(i, j):
        square = ((z[i] - z[j]) ** 2).sum()
        return torch.sqrt(square) if float(square) > 0 else square * 0
    return [[d(i, j) for j in range(len(z))] for i in range(len(z))]


@loss("lifted-structured", margin=1.0)
def lifted_structured(z, labels, params, o):
    d, terms = distances(z), []
    for i in range(len(labels)):
        for j in range(i):
            rest = [n for n in range(len(labels)) if labels[n] != labels[i]]
            if labels[i] == labels[j] and rest:
                cost = d[i][j] + lse([o["margin"] - d[k][n] for k in (i, j) for n in rest])
                terms.append(torch.relu(cost) ** 2 / 2)
    return mean(terms)


@loss("lifted-generalized", margin=1.0)
def lifted_generalized(z, labels, params, o):
    d, terms = distances(z), []
    for i in range(len(labels)):
        same, rest = others(labels, i)
        if same and rest:
            terms.append(torch.relu(lse([d[i][p] for p in same]) + lse([o["margin"] - d[i][n] for n in rest])))
    return mean(terms)


@loss("angular", alpha=40.0)
def angular(z, labels, params, o):
    z, terms, t = unit(z), [], math.tan(math.radians(o["alpha"])) ** 2
    for a in range(len(labels)):
        for p in range(a):
            if labels[a] == labels[p]:
                rest = [n for n in range(len(labels)) if labels[n] != labels[a]]
                f = [4 * t * ((z[a] + z[p]) * z[n]).sum() - 2 * (1 + t) * (z[a] * z[p]).sum() for n in rest]
                terms.append(lse([torch.tensor(0.0), *f]))
    return mean(terms)


@loss("n-pairs", l2=0.02)
def n_pairs(z, labels, params, o):
    pairs = [[i for i, y in enumerate(labels) if y == c][:2] for c in sorted(set(labels))]
    pairs = [p for p in pairs if len(p) == 2]
    terms = []
    for a, p in pairs:
        below = [(z[a] * z[q]).sum() - (z[a] * z[p]).sum() for _, q in pairs]
        terms.append(lse(below) + o["l2"] / 4 * ((z[a] ** 2).sum() + (z[p] ** 2).sum()))
    return mean(terms)


def hinge_mean(terms):
    """The mean of the terms above 0."""
    active = [t for t in terms if float(t) > 0]
    return mean(active)


@loss("snr", positive_margin=0.0, negative_margin=1.0, zero_mean=0.0)
def snr(z, labels, params, o):
    variance = lambda x: ((x - x.mean()) ** 2).mean()
    pull, push = [], []
    for i in range(len(labels)):
        if float(variance(z[i])) == 0:
            continue
        for j in range(len(labels)):
            if j != i:
                r = variance(z[j] - z[i]) / variance(z[i])
                if labels[i] == labels[j]:
                    pull.append(torch.relu(r - o["positive_margin"]))
                else:
                    push.append(torch.relu(o["negative_margin"] - r))
    return hinge_mean(pull) + hinge_mean(push) + o["zero_mean"] * mean([x.sum().abs() for x in z])


def all_triplets(labels):
    rows = range(len(labels))
    return [(a, p, n) for a in rows for p in rows for n in rows if a != p and labels[a] == labels[p] and labels[n] != labels[a]]


@loss("margin", margin=0.2, beta=1.2, learn="class")
def margin_loss(z, labels, params, o):
    eps, terms = 1e-6, []  # as torch.nn.functional.pairwise_distance
    for a, p, n in all_triplets(labels):
        border = params[0][labels[a] if o["learn"] == "class" else 0]
        terms.append(torch.relu((z[a] - z[p] + eps).norm() - border + o["margin"]))
        terms.append(torch.relu(border - (z[a] - z[n] + eps).norm() + o["margin"]))
    return hinge_mean(terms)


@loss("quadruplet", margin=1.0, second_margin=0.5, second=True, distance="squared")
def quadruplet(z, labels, params, o):
    d, terms = distances(z), []
    far = lambda i, j: d[i][j] ** 2 if o["distance"] == "squared" else d[i][j]
    for a, p, n in all_triplets(labels):
        term = torch.relu(far(a, p) - far(a, n) + o["margin"])
        fourth = [k for k, y in enumerate(labels) if y not in (labels[a], labels[n])]
        if o["second"]:
            term = term + mean([torch.relu(far(a, p) - far(n, k) + o["second_margin"]) for k in fourth])
        terms.append(term)
    return mean(terms)


def views(items):
    """Rows of the first view of each image, and of its second."""
    seen, pairs = {}, []
    for i, item in enumerate(items):
        if item in seen:
            pairs.append((seen.pop(item), i))
        else:
            seen[item] = i
    return [i for i, _ in pairs], [j for _, j in pairs]


@loss("vicreg", similarity=25.0, variance=25.0, covariance=1.0, variant="paper")
def vicreg(z, labels, params, o):
    first, second = views(o["items"])
    n, dim = len(first), z.shape[1]
    if n < 2:
        return torch.tensor(0.0)
    published = o["variant"] == "published"
    similar = mean([((z[i] - z[j]) ** 2).sum() for i, j in zip(first, second)])
    total = o["similarity"] * similar / (dim if published else 1)
    for view in (first, second):
        x = z[view]
        x = x - x.mean(0)
        c = x.T @ x / (n - 1)
        spread = mean([torch.relu(1 - torch.sqrt(c[k][k] + 1e-4)) for k in range(dim)])
        total = total + o["variance"] * spread / (2 if published else 1)
        total = total + o["covariance"] * sum(c[k][m] ** 2 for k in range(dim) for m in range(dim) if k != m) / dim
    return total


# ---- cases


def single(x):
    """Multiples of 1/4096 are exact in float32."""
    return round(x * 4096) / 4096


def normal(r, rows, cols, scale=1.0):
    return [[single(scale * r.gauss(0, 1)) for _ in range(cols)] for _ in range(rows)]


def case(what, name, z, labels, classes=5, params=(), **changed):
    f, defaults = LOSSES[name]
    o = defaults | changed
    more = {}
    if name in ON_TRIPLETS:
        more["triplets"] = all_triplets(labels)
    if name in ON_VIEWS or o.get("positives") == "views":
        more["items"] = ITEMS[len(labels)]
    x = torch.tensor(z, requires_grad=True)
    p = [torch.tensor(v, requires_grad=True) for v in params]
    value = f(x, labels, p, o | more)
    if value.requires_grad:
        value.backward()
    grads = [v.grad if v.grad is not None else torch.zeros_like(v) for v in [x, *p]]
    return {"name": f"{name}: {what}", "loss": name, "options": o, "rows": z, "labels": labels, "classes": classes,
            "params": [v.flatten().tolist() for v in p], "value": float(value),
            "gradient": grads[0].flatten().tolist(), "params_gradient": [g.flatten().tolist() for g in grads[1:]], **more}


ON_TRIPLETS = {"margin", "quadruplet"}
ON_VIEWS = {"vicreg"}
ITEMS = {9: [3, 3, 4, 5, 4, 5, 9, 8, 8], 6: [1, 2, 2, 1, 7, 7], 5: [1, 2, 2, 1, 7]}


CHANGES = {
    "supcon": [{}, {"denominator": "negatives"}, {"variant": "published"}, {"temperature": 0.7}],
    "nt-xent": [{}, {"denominator": "negatives"}, {"temperature": 0.5}, {"positives": "views"}],
    "proxy-anchor": [{}, {"alpha": 8.0, "delta": 0.3}],
    "normalized-softmax": [{}, {"centers": 3}, {"smoothing": 0.1}],
    "cosface": [{}, {"scale": 10.0, "margin": 0.1}, {"centers": 2}, {"smoothing": 0.3, "scale": 10.0}],
    "arcface": [{}, {"scale": 10.0, "margin": 1.5}, {"centers": 3, "scale": 16.0}, {"smoothing": 0.1, "scale": 16.0}],
    "proxy-nca": [{}, {"temperature": 0.3}],
    "proxy-nca-pp": [{}, {"temperature": 1.0}],
    "circle": [{}, {"pool": "batch"}, {"gamma": 10.0, "margin": 0.2}],
    "smooth-ap": [{}, {"variant": "published"}, {"temperature": 0.3}],
    "fastap": [{}, {"bins": 25}],
    "lifted-structured": [{}, {"margin": 0.3}],
    "lifted-generalized": [{}, {"margin": 0.3}],
    "angular": [{}, {"alpha": 60.0}],
    "n-pairs": [{}, {"l2": 1.0}],
    "snr": [{}, {"positive_margin": 0.2, "negative_margin": 2.0, "zero_mean": 0.1}],
    "margin": [{}, {"learn": "global", "beta": 0.8}, {"margin": 1.0}],
    "quadruplet": [{}, {"distance": "euclidean", "margin": 0.3, "second_margin": 0.7}, {"second": False}],
    "vicreg": [{}, {"variant": "published"}, {"similarity": 1.0, "covariance": 10.0}],
    "soft-triple": [{"centers": 3}, {"centers": 1}, {"centers": 2, "tau": 0.0, "gamma": 0.5}, {"centers": 2, "smoothing": 0.2}],
}
PARAMS = {
    name: lambda r, classes, dim, o: [normal(r, classes * o.get("centers", 1), dim)]
    for name in ["proxy-anchor", "proxy-nca", "proxy-nca-pp", "normalized-softmax", "cosface", "arcface", "soft-triple"]
}
PARAMS["margin"] = lambda r, classes, dim, o: [[single(o["beta"] + 0.3 * r.gauss(0, 1)) for _ in range(classes if o["learn"] == "class" else 1)]]


def cases():
    r = random.Random(11)
    batches = {
        "mixed": (normal(r, 9, 4), [0, 0, 1, 1, 3, 3, 0, 1, 4]),
        "two of each": (normal(r, 6, 3), [0, 0, 1, 1, 2, 2]),
        "long and short rows": ([[single(x * 8 ** (i % 3) / 8) for x in row] for i, row in enumerate(normal(r, 6, 3))], [0, 1, 0, 1, 0, 1]),
        "nearly parallel": ([[single(1 + 0.05 * r.gauss(0, 1)) for _ in range(4)] for _ in range(6)], [0, 0, 0, 1, 1, 1]),
        "one class": (normal(r, 5, 3), [2] * 5),
        "no class twice": (normal(r, 5, 3), [4, 0, 1, 2, 3]),
    }
    for name, changes in CHANGES.items():
        for n, changed in enumerate(changes):
            for what, (z, labels) in batches.items():
                if n and what != "mixed":
                    continue
                o = LOSSES[name][1] | changed
                params = PARAMS[name](random.Random(12), 5, len(z[0]), o) if name in PARAMS else []
                yield case(", ".join([what, *(f"{k} {v}" for k, v in changed.items())]), name, z, labels, params=params, **changed)


out = pathlib.Path(__file__).parents[2] / "internal/engine/loss/labeled/testdata/labeled.json"
text = json.dumps({"cases": list(cases())}, separators=(",", ":")).replace('{"name"', '\n{"name"')
out.write_text(text + "\n")
