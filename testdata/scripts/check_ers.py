#!/usr/bin/env python3
"""Independent check of the nine attacks and ten scores of ERS, in PyTorch and NumPy.

    tercet attack --run R --suite ers --variant both --queries 256 --sample --save-images F
    python3 testdata/scripts/check_ers.py R F [--attacks CA+,GTM] [--own] [--pixels 0.999]

It reads the checkpoint's weights with a parser of its own, rebuilds c2f2 in PyTorch and, for each attack and
variant (published: robrank's code as it stands; fixed: as the papers describe it), compares

  targets     those that follow from clean distances (GTM, GTT) with its own; random ones with the window they
              must come from
  objective   of every query at the first step: largest relative difference at most 1e-4
  score       of its own PGD on the same targets with Tercet's: within 0.02; of Tercet's images, embedded and
              scored here: within 1e-3, and the value of every query
  clean, ERS  the clean values within 1e-3; ERS by the formula within 1e-6

and prints the fraction of equal pixels; --pixels demands one. Winograd's rounding decides between equal values of a
max pooling window, which the black ground of MNIST has in every fifth window, and so which pixel gets the gradient:
after one step 3 % of the pixels differ. With TERCET_WINOGRAD=off, the first of equal values wins as in PyTorch, and
after one step all pixels are equal.

The network runs in float32; distances, objectives and scores are in float64. An objective is the mean over the
gallery (and over the w or m targets), as robrank has it, of ONE query; robrank's mean over the batch changes no sign.
--own skips PGD and checks the rest. --attacks can name SPQA+ and SPQA- too. Exit status 1 if anything disagrees.
"""
import argparse, hashlib, json, os, struct, sys
import numpy as np
import torch
import torch.nn.functional as F

SUITE = ["CA+", "CA-", "QA+", "QA-", "TMA", "ES", "LTM", "GTM", "GTT"]
KEYS = {a: [a] for a in SUITE} | {"ES": ["ES:D", "ES:R"]} | {a: [a, a + ":GT"] for a in ("SPQA+", "SPQA-")}
SHIELD = 5  # items that SPQA protects: the last of its targets
NUDGE, PAIR = 1e-7, 1e-6  # ES at iteration 0; pairwise_distance's eps


def signs(seed, item, d):
    """The fixed ES leaves the clean embedding along these: bits of Tercet's stream (PCG-DXSM, seeded by SHA-256)."""
    name, mask = b"attack.ES.nudge", (1 << 128) - 1
    key = hashlib.sha256(struct.pack("<QQ", seed, len(name)) + name + struct.pack("<Q", item)).digest()
    state, out = struct.unpack("<QQ", key[:16]), []
    state = state[0] << 64 | state[1]
    while len(out) < d:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x5851F42D4C957F2D14057B7EF767814F) & mask
        hi, lo = state >> 64, state & mask >> 64
        hi ^= hi >> 32
        hi = hi * 0xDA942042E4DD58B5 & mask >> 64
        hi ^= hi >> 48
        hi = hi * (lo | 1) & mask >> 64
        out += [-1.0 if hi >> k & 1 else 1.0 for k in range(64)]
    return out[:d]


# ---- Tercet's files -------------------------------------------------------------------------------------------------
def checkpoint(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + n])
    meta, data = head.pop("__metadata__"), raw[8 + n :]
    return {k: np.frombuffer(data[slice(*v["data_offsets"])], "<f4").reshape(v["shape"]).copy() for k, v in head.items()}, meta


class Network:
    """c2f2 with embeddings of length 1, images (B, H, W, 1)."""

    def __init__(self, run):
        w, meta = checkpoint(run + "/checkpoints/last.safetensors")
        model = {k.lower(): v for k, v in json.loads(meta["model"]).items()}
        assert model["name"] == "c2f2" and model["normalize"], model
        self.w = {k[6:]: torch.from_numpy(v) for k, v in w.items() if k.startswith("model/")}
        for c in ("conv1.weight", "conv2.weight"):  # (KH, KW, C, O) to (O, C, KH, KW)
            self.w[c] = self.w[c].permute(3, 2, 0, 1).contiguous()

    def __call__(self, x):
        w, x = self.w, x.permute(0, 3, 1, 2)
        for c in ("conv1", "conv2"):
            x = F.max_pool2d(F.relu(F.conv2d(x, w[c + ".weight"], w[c + ".bias"], padding=2)), 2)
        x = x.permute(0, 2, 3, 1).flatten(1)  # H, W, C order
        x = F.relu(x @ w["fc1.weight"] + w["fc1.bias"])
        return F.normalize(x @ w["fc2.weight"] + w["fc2.bias"])


# ---- distances in float64 -------------------------------------------------------------------------------------------
def between(z, x):
    """Distances of rows z (B, D) and x (B, M, D): (B, M). The gradient at distance 0 is 0."""
    return torch.linalg.vector_norm(z[:, None] - x, dim=2)


def to_all(z, X, own):
    """Distances (B, N) of z from the gallery; the own copy's column, which may be 0, from the difference."""
    d = (z.square().sum(1)[:, None] + X.square().sum(1) - 2 * z @ X.T).clamp_min(1e-14).sqrt()
    rows = torch.arange(len(z))
    mask = torch.zeros_like(d, dtype=torch.bool)
    mask[rows, own] = True
    return torch.where(mask, between(z, X[own][:, None]), d)


# ---- an attack aimed at a batch -------------------------------------------------------------------------------------
class Attack:
    def __init__(self, name, variant, X, labels, own, z0, targets, opts):
        self.name, self.fixed, self.opts = name, variant == "fixed", opts
        self.X, self.labels, self.own, self.z0 = X, labels, own, z0
        self.rows = torch.arange(len(own))
        self.mine = labels[own]
        d0 = to_all(z0, X, own)
        self.self_ = own if self.fixed else d0.argmin(1)  # whom "self" names
        d0[self.rows, self.self_] = np.inf
        self.order = d0.argsort(dim=1, stable=True)  # non-self, nearest first
        self.targets = targets if targets is not None else self.aim()
        if name[:4] == "SPQA":
            self.targets, self.shield = targets[:, :-SHIELD], targets[:, -SHIELD:]
        if name[:2] == "CA":  # distances of the gallery from the queries: (B, W, N)
            self.from_q = torch.stack([torch.cdist(X[t], X, compute_mode="donot_use_mm_for_euclid_dist") for t in self.targets])

    def aim(self):
        """Targets that follow from clean distances."""
        if self.name == "GTT":
            return self.order[:, :1]
        if self.name != "GTM":
            return None
        out = []
        for i, order in enumerate(self.order):
            if self.fixed:
                other = self.labels[order] != self.mine[i]
                out.append(order[other][0])
            else:  # the position, among the items whose label is not the top-1's, of the nearest of them
                rank = torch.empty_like(order)
                rank[order] = torch.arange(len(order))
                other = self.labels != self.labels[order[0]]
                out.append(rank[other].argmin())
        return torch.stack(out)[:, None]

    def objective(self, z, t):
        """Per query, to be minimized."""
        name, X = self.name, self.X
        if name == "ES":
            if not self.fixed:
                return -torch.linalg.vector_norm(z - (self.z0 + (NUDGE if t == 0 else 0)) + PAIR, dim=1)
            if t == 0:
                nudge = [signs(self.opts["seed"], i, z.shape[1]) for i in self.own.tolist()]
                return -torch.linalg.vector_norm(z - (self.z0 + NUDGE * torch.tensor(nudge, dtype=z.dtype)), dim=1)
            return -torch.linalg.vector_norm(z - self.z0, dim=1)
        if name == "LTM":
            d = to_all(z, X, self.own)
            same = self.labels == self.mine[:, None]
            other = ~same
            if self.fixed:
                same = same.clone()
                same[self.rows, self.own] = False
            far = torch.where(other, d, torch.tensor(-np.inf, dtype=d.dtype)).amax(1)
            near = torch.where(same, d, torch.tensor(np.inf, dtype=d.dtype)).amin(1)
            return (far - near).relu()
        c = X[self.targets]  # (B, M, D)
        if name == "TMA":
            return 1 - F.cosine_similarity(z, c[:, 0])
        if name == "GTM":
            return torch.linalg.vector_norm(z - c[:, 0] + PAIR, dim=1)
        a = between(z, c)[:, :, None]
        b = self.from_q if name[:2] == "CA" else to_all(z, X, self.own)[:, None]
        value = ((a - b) if name[-1] == "+" else (b - a)).relu().mean((1, 2))
        if name[:4] == "SPQA":
            keep = (between(z, X[self.shield])[:, :, None] - b).relu().mean((1, 2))
            k = self.opts.get("xi_scale", 0)
            at = (keep if self.fixed else keep.mean()).detach()
            xi = (k * at).exp().clamp(max=1e9) if k else self.opts.get("xi_weight") or (1 if name[-1] == "+" else 100)
            value = value + xi * keep
        return value

    def scores(self, z, before):
        """Per query, by key; z of the last iterate, before of the one before it."""
        name, n = self.name, len(self.X)
        if name == "TMA":
            return [F.cosine_similarity(z, self.X[self.targets[:, 0]])]
        if name[:2] == "CA":
            nearer = between(z, self.X[self.targets])[:, :, None] > self.from_q
            if not self.fixed:
                return [nearer.double().mean((1, 2))]
            nearer[self.rows, :, self.own] = False
            return [nearer.double().sum(2).mean(1) / (n - 1)]
        d = to_all(z, self.X, self.own)
        if "QA" in name:
            if self.fixed:
                d[self.rows, self.own] = np.inf
            rank = d.argsort(dim=1, stable=True).argsort(dim=1)
            aimed = [self.targets, self.shield] if name[:4] == "SPQA" else [self.targets]
            return [rank.gather(1, t).double().mean(1) / (n - 1 if self.fixed else n) for t in aimed]
        d[self.rows, self.self_] = np.inf
        near = d.argsort(dim=1, stable=True)
        if name == "GTT":
            return [(near[:, :4] == self.targets).any(1).double()]
        right = (self.labels[near[:, 0]] == self.mine).double()
        if name != "ES":
            return [right]
        moved = torch.linalg.vector_norm(z - self.z0 if self.fixed else before - self.z0 + PAIR, dim=1)
        return [moved, right]

    def window(self):
        """What is wrong with given random targets, or None."""
        t, k = self.targets, max(1, len(self.X) // 100)
        if t.min() < 0 or t.max() >= len(self.X):
            return "a target outside the gallery"
        if self.name == "SPQA+" and (self.shield != self.order[:, :SHIELD]).any():
            return "protected items that are not the nearest"
        if self.name in ("CA-", "QA-", "SPQA-"):
            near = self.order[:, :k]
            if self.name == "SPQA-":  # protected: the nearest that were not drawn
                free = [[i for i in a.tolist() if i not in b][:SHIELD] for a, b in zip(near, self.targets.tolist())]
                if free != self.shield.tolist():
                    return "protected items that are not the nearest left"
            if not all(bool(torch.isin(a, b).all()) for a, b in zip(t, near)):
                return f"a target that is not among the nearest {k}"
        elif self.fixed and (t == self.own[:, None]).any():
            return "a query aimed at itself"
        if self.name[-3:] == "QA-" and any(len(set(r.tolist())) < len(r) for r in t):
            return "a target drawn twice"


def craft(net, attack, x0, eps, step, steps):
    """PGD; returns the images, the first objective, the embeddings of the last two iterates."""
    x, first, before = x0.clone(), None, None
    for t in range(steps):
        x.requires_grad_(True)
        z = net(x).double()
        per = attack.objective(z, t)
        g, = torch.autograd.grad(per.sum(), x)
        first = per.detach() if t == 0 else first
        before = z.detach()
        with torch.no_grad():
            x = x - step * g.sign()
            x = torch.min(torch.max(x, x0 - eps), x0 + eps).clamp(0, 1)
    with torch.no_grad():
        return x, first, net(x).double(), before


def ers(s):
    """robrank's normalization; s holds fractions, TMA a cosine, ES:D a distance."""
    items = [2 * s["CA+"], 1 - s["CA-"], 2 * s["QA+"], 1 - s["QA-"], 1 - s["TMA"], (2 - s["ES:D"]) / 2]
    return np.mean(items + [s[k] for k in ("ES:R", "LTM", "GTM", "GTT")])


# The four rows of the papers' tables that the reference names, in percent, and the ERS printed there.
ROWS = [
    ([12.7, 46.4, 11.6, 39.9, .567, .783, 16.8, 11.9, 27.9, 1.4], 32.4),
    ([34.9, 3.8, 36.7, 2.3, .879, .093, 35.3, 36.5, 35.2, 49.1], 60.1),
    ([0.0, 100.0, 0.0, 99.9, .883, 1.762, 0.0, 0.0, 14.1, 0.0], 3.8),
    ([13.7, 46.8, 12.6, 39.3, .547, .902, 13.6, 9.8, 21.9, 1.3], 31.3),
]


# ---- the comparison -------------------------------------------------------------------------------------------------
def main():
    p = argparse.ArgumentParser()
    p.add_argument("run"), p.add_argument("folder")
    p.add_argument("--attacks", default=",".join(SUITE))
    p.add_argument("--own", action="store_true")
    p.add_argument("--pixels", type=float, metavar="FRACTION")
    o = p.parse_args()
    torch.manual_seed(0)
    doc = json.load(open(o.run + "/attack.json"))
    opts = doc["options"]
    eps, step, steps, batch = opts["eps"], opts["step"], opts["iterations"], opts["batch"]
    net, good = Network(o.run), True

    def read(name):
        path = f"{o.folder}/{name}.npy"
        return torch.from_numpy(np.load(path)) if os.path.exists(path) else None

    def say(ok, what, text):
        nonlocal good
        good &= bool(ok)
        print(("ok   " if ok else "FAIL ") + what + ": " + text, flush=True)

    clean, theirs = read("clean"), read("gallery").double()
    own, labels = read("queries").long(), read("labels").long()
    q, cut = len(own), lambda a, lo: None if a is None else a[lo : lo + batch]
    with torch.no_grad():
        z0 = torch.cat([net(clean[lo : lo + batch]) for lo in range(0, q, batch)]).double()
    X = theirs.clone()
    X[own] = z0  # so that a query at rest is at distance 0 from its own copy here, as there
    d = (z0 - theirs[own]).abs().max().item()
    say(d < 1e-5, "clean embeddings", f"largest difference from the gallery {d:.1e}")
    for row, printed in ROWS:
        value = ers(dict(zip([k for a in SUITE for k in KEYS[a]], [v if i in (4, 5) else v / 100 for i, v in enumerate(row)])))
        say(abs(100 * value - printed) < 0.07, "ERS of a published row", f"{100 * value:.2f}, printed {printed}")

    table, crafted = [], {}
    for variant in doc["scores"]:
        means = lambda v: float(torch.stack([c.mean() for c in v.split(batch)]).mean() if variant == "published" else v.mean())
        got = {k: v["value"] for k, v in doc["scores"][variant].items()}
        rest = {k: v["value"] for k, v in doc["clean"][variant].items()}
        for name in o.attacks.split(","):
            tag = f"{name} {variant}"
            given, adv, first = (read(f"{w}_{name}_{variant}") for w in ("targets", "adversarial", "first_objective"))
            drawn = name == "TMA" or name[-3:-1] in ("CA", "QA")
            targets = given.long().reshape(q, -1) if drawn else None
            aims = [Attack(name, variant, X, labels, own[lo : lo + batch], z0[lo : lo + batch], cut(targets, lo), opts) for lo in range(0, q, batch)]
            if drawn:
                bad = next((w for w in (a.window() for a in aims) if w), None)
                say(not bad, tag + " targets", bad or "all from their window")
            elif name in ("GTM", "GTT"):
                mine = torch.cat([a.targets for a in aims])
                same = (mine == given.long().reshape(q, -1)).double().mean().item()
                say(same == 1, tag + " targets", f"{100 * same:.2f} % equal")
            ball = (adv - clean).abs().max().item()
            say(ball <= eps + 1e-6 and adv.min() >= 0 and adv.max() <= 1, tag + " ball and box", f"|delta|inf {ball:.6f}, eps {eps:.6f}")

            # Tercet's images, embedded and scored here.
            value, at_rest = [], []
            with torch.no_grad():
                for a, lo in zip(aims, range(0, q, batch)):
                    z = net(adv[lo : lo + batch]).double()
                    value.append(torch.stack(a.scores(z, z)))
                    at_rest.append(torch.stack(a.scores(a.z0, a.z0)))
            value, at_rest = torch.cat(value, 1), torch.cat(at_rest, 1)
            for k, key in enumerate(KEYS[name]):
                say(abs(means(at_rest[k]) - rest[key]) <= 1e-3, f"{key} {variant} clean", f"here {means(at_rest[k]):.4f}, Tercet {rest[key]:.4f}")
                per = read(f"values_{name}_{variant}" + (f"_{key.replace(':', '-')}" if len(KEYS[name]) > 1 else ""))
                say(abs(means(per.double()) - got[key]) < 1e-6, f"{key} {variant} values", f"their mean {means(per.double()):.6f}, attack.json {got[key]:.6f}")
                if key == "ES:D" and variant == "published":
                    continue  # of the iterate before, whose image is not written
                say(abs(means(value[k]) - got[key]) <= 1e-3, f"{key} {variant} of Tercet's images",
                    f"here {means(value[k]):.5f}, Tercet {got[key]:.5f}, largest difference of a query {(value[k] - per).abs().max().item():.1e}")
            if o.own:
                continue

            # An attack of our own. Variants that aim alike craft alike.
            key = (name, name in ("ES", "LTM", "SPQA+", "SPQA-") and variant, *(a.targets is not None and a.targets.numpy().tobytes() for a in aims))
            if key not in crafted:
                crafted[key] = [craft(net, a, clean[lo : lo + batch], eps, step, steps) for a, lo in zip(aims, range(0, q, batch))]
            runs = crafted[key]
            at_first = torch.cat([r[1] for r in runs])
            far = ((at_first - first).abs() / at_first.abs().clamp_min(1e-12)).max().item()
            say(far <= 1e-4, tag + " first objective", f"largest relative difference {far:.1e}")
            same = ((torch.cat([r[0] for r in runs]) - adv).abs() < 1e-5).double().mean().item()
            if o.pixels:
                say(same >= o.pixels, tag + " pixels", f"{100 * same:.2f} % equal after {steps} steps")
            with torch.no_grad():
                value = torch.cat([torch.stack(a.scores(r[2], r[3])) for a, r in zip(aims, runs)], 1)
            for k, key in enumerate(KEYS[name]):
                here = means(value[k])
                say(abs(here - got[key]) <= 0.02, f"{key} {variant} of our attack", f"here {here:.4f}, Tercet {got[key]:.4f}")
                table.append((key, variant, far, here, got[key], rest[key], same))
        if all(k in got for a in SUITE for k in KEYS[a]):
            for what, s in (("ERS", got), ("clean ERS", rest)):
                say(abs(ers(s) - s["ERS"]) < 1e-6, f"{what} {variant}", f"by the formula {100 * ers(s):.3f}, Tercet {100 * s['ERS']:.3f}")
    print("\n| score | variant | first objective | PyTorch | Tercet | difference | clean | equal pixels |\n" + "| --- " * 8 + "|")
    for key, variant, far, here, there, rest, same in table:
        print(f"| {key} | {variant} | {far:.1e} | {here:.4f} | {there:.4f} | {abs(here - there):.4f} | {rest:.4f} | {100 * same:.1f} % |")
    print("\n" + ("everything agrees" if good else "SOMETHING DISAGREES"))
    sys.exit(0 if good else 1)


main()
