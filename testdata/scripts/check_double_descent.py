#!/usr/bin/env python3
"""Double descent over width (DIBS, Figs. 1 and 3) in PyTorch, without code of Tercet.

    python3 testdata/scripts/check_double_descent.py ../shared/data/mnist --out errors.csv

It reads MNIST, builds the pair graphs of both scenarios with and without noise, and
trains MLPs of three weight layers with the contrastive loss and Adam at the paper's
sizes: 6,000 pairs, 2,000 epochs, 1e-4. All networks of one width are trained together
as one batched product, each on its own pairs, so that a GPU trains hundreds at once.
A row of the CSV is one network: training error by the labels trained on, and test error
on 9,000 clean pairs of test images. Arithmetic is float32 without TF32.

The draws differ from Tercet's, so that means over seeds are to be compared, not runs.

    python3 testdata/scripts/check_double_descent.py --summary errors.csv

prints each curve: mean test error at each width, the peak (the width that stands highest
above the least error before it and after it), the rise to it and the fall from it. A seed's
rise and fall are taken at the widths that the other seeds choose; intervals are Student's.
It needs neither torch nor numpy. With --csv it prints the intervals alone, and those of the
differences between PLN and SLN, as results/oracles/double-descent-torch-summary.csv has them.
"""
import argparse, csv, gzip, math, os, statistics, sys, time

try:
    import numpy as np, torch
except ImportError:  # --summary needs none
    if "--summary" not in sys.argv:
        raise
    np = torch = None


def idx(path):
    raw = gzip.open(path).read()
    dims = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(dims)


def graph(labels, rng):
    """A closed chain through each class, and for each image the one of the same index in
    another class: pairs (2N, 2) of positions, and whether they are called similar."""
    lists = [rng.permutation(np.flatnonzero(labels == c)) for c in range(10)]
    similar = [np.stack([l, np.roll(l, -1)], 1) for l in lists if len(l)]
    different = []
    for c, l in enumerate(lists):
        for i, a in enumerate(l):
            other = lists[(c + 1 + rng.integers(9)) % 10]
            different.append((a, other[i % len(other)]))
    similar, different = np.concatenate(similar), np.array(different)
    return np.concatenate([similar, different]), np.arange(len(similar) + len(different)) < len(similar)


def training_pairs(labels, scenario, kind, p, rng):
    """6,000 pairs: all of 3,000 images (s2), or a sample of those of all images (s1)."""
    if scenario == "s2":
        images = np.concatenate([rng.choice(np.flatnonzero(labels == c), 300, replace=False) for c in range(10)])
    else:
        images = np.arange(len(labels))
    named = labels[images].copy()
    if kind == "sln":  # an image's label is drawn again with probability q, P = q - q^2/2
        again = rng.random(len(named)) < 1 - math.sqrt(1 - 2 * p)
        named[again] = rng.integers(0, 10, again.sum())
    pairs, same = graph(named, rng)
    if scenario == "s1":
        keep = np.concatenate([rng.choice(np.flatnonzero(same == s), 3000, replace=False) for s in (True, False)])
        pairs, same = pairs[keep], same[keep]
    if kind == "pln":  # a pair's label is a fair coin with probability 2P
        coin = rng.random(len(same)) < 2 * p
        same = np.where(coin, rng.random(len(same)) < 0.5, same)
    return images[pairs], same


def test_pairs(labels, rng):
    pairs, same = graph(labels, rng)
    keep = np.concatenate([rng.choice(np.flatnonzero(same == s), 4500, replace=False) for s in (True, False)])
    return pairs[keep], same[keep]


class Batched(torch.nn.Module if torch else object):
    """models MLPs 784-w-w-w with Xavier-uniform weights, ReLU after the first two layers."""

    def __init__(self, models, w, dev, last_relu):
        super().__init__()
        self.last_relu = last_relu
        sizes = [784, w, w, w]
        self.weights, self.biases = torch.nn.ParameterList(), torch.nn.ParameterList()
        for a, b in zip(sizes, sizes[1:]):
            bound = math.sqrt(6 / (a + b))
            self.weights.append((torch.rand(models, a, b, device=dev) * 2 - 1) * bound)
            self.biases.append(torch.zeros(models, 1, b, device=dev))

    def forward(self, x):  # (models, images, 784)
        for i, (w, b) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(b, x, w)
            if i < 2 or self.last_relu:
                x = x.relu()
        return x


def distances(net, images, pairs):  # images (n, 784), pairs (models, b, 2)
    z = net(images[pairs.flatten(1)])
    z = z.view(z.shape[0], -1, 2, z.shape[2])
    return ((z[:, :, 0] - z[:, :, 1]).square().sum(2) + 1e-12).sqrt()


def errors(net, images, pairs, same, size=1000):
    wrong = 0
    with torch.no_grad():
        for i in range(0, pairs.shape[1], size):
            d = distances(net, images, pairs[:, i : i + size])
            wrong = wrong + ((d < 0.5) != same[:, i : i + size]).sum(1)
    return (wrong / pairs.shape[1]).cpu().numpy()


def train(width, worlds, data, dev, epochs, lr, last_relu):
    images, _, test_images, _ = data
    models = len(worlds)
    net = Batched(models, width, dev, last_relu)
    pairs = torch.stack([torch.from_numpy(w["pairs"]) for w in worlds]).to(dev)
    same = torch.stack([torch.from_numpy(w["same"]) for w in worlds]).to(dev)
    opt = torch.optim.Adam(net.parameters(), lr=lr, fused=dev.type == "cuda", capturable=dev.type == "cuda")
    n = pairs.shape[1]
    steps = -(-n // 128)
    order = torch.zeros(models, steps * 128, dtype=torch.long, device=dev)
    weight = (torch.arange(steps * 128, device=dev) < n).float().view(steps, 128)
    weight = weight / weight.sum(1, keepdim=True)

    def epoch():
        for s in range(steps):
            at = order[:, s * 128 : (s + 1) * 128]
            d = distances(net, images, pairs.gather(1, at[:, :, None].expand(-1, -1, 2)))
            y = same.gather(1, at)
            loss = (torch.where(y, d.square(), (1 - d).clamp_min(0).square()) * weight[s]).sum()
            opt.zero_grad(set_to_none=False)
            loss.backward()
            opt.step()

    def shuffle():
        order[:, :n] = torch.rand(models, n, device=dev).argsort(1)

    begin = time.time()
    shuffle()
    if dev.type == "cuda":  # the steps of an epoch as one graph
        state = [p.detach().clone() for p in net.parameters()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            epoch()
        torch.cuda.current_stream().wait_stream(side)
        with torch.no_grad():  # that epoch does not count
            for p, s in zip(net.parameters(), state):
                p.copy_(s)
            for s in opt.state.values():
                for v in s.values():
                    v.zero_()
        one = torch.cuda.CUDAGraph()
        with torch.cuda.graph(one):
            epoch()
        run = one.replay
    else:
        run = epoch
    for _ in range(epochs):
        shuffle()
        run()
    tp = torch.stack([torch.from_numpy(w["test_pairs"]) for w in worlds]).to(dev)
    ts = torch.stack([torch.from_numpy(w["test_same"]) for w in worlds]).to(dev)
    out = errors(net, images, pairs, same), errors(net, test_images, tp, ts)
    print(f"width {width}: {models} networks, {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
    return out


def peak(curve):
    """Places of the peak and of the least error before and after it, by prominence."""
    best = None
    for i in range(1, len(curve) - 1):
        a, b = min(range(i), key=curve.__getitem__), min(range(i + 1, len(curve)), key=curve.__getitem__)
        height = min(curve[i] - curve[a], curve[i] - curve[b])
        if best is None or height > best[0]:
            best = height, a, i, b
    return best[1:]


def quantile(n):
    """The 97.5 % quantile of Student's distribution with n degrees of freedom."""
    mass = lambda t: 0.5 + sum(density(t * (i + 0.5) / 2000) for i in range(2000)) * t / 2000
    density = lambda t: math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(n * math.pi) * (1 + t * t / n) ** (-(n + 1) / 2)
    low, high = 0.0, 100.0
    for _ in range(50):
        mid = (low + high) / 2
        low, high = (mid, high) if mass(mid) < 0.975 else (low, mid)
    return low


def interval(x):
    """Mean and half of Student's 95 % interval."""
    return statistics.mean(x), quantile(len(x) - 1) * statistics.stdev(x) / math.sqrt(len(x))


def summary(path, as_csv):
    curves = {}
    for r in csv.DictReader(open(path)):
        key = r["scenario"], r["noise"], float(r["effective"])
        curves.setdefault(key, {}).setdefault(int(r["seed"]), {})[int(r["width"])] = float(r["test_error"]) * 100
    rows = []  # scenario, noise, effective, quantity, widths, n, value, low, high
    note = lambda key, quantity, widths, x: rows.append([*key, quantity, widths, len(x), *(lambda m, h: (m, m - h, m + h))(*interval(x))])
    for key, seeds in curves.items():
        widths = sorted(next(iter(seeds.values())))
        grid = [[seeds[s][w] for w in widths] for s in sorted(seeds)]
        mean = lambda rows: [statistics.mean(c) for c in zip(*rows)]
        rises, falls = [], []
        for i, row in enumerate(grid):
            a, at, b = peak(mean(grid[:i] + grid[i + 1 :]))
            rises.append(row[at] - row[a])
            falls.append(row[at] - row[b])
        at = widths[peak(mean(grid))[1]]
        if not as_csv:
            print(*key, " ".join(f"{w}:{e:.1f}" for w, e in zip(widths, mean(grid))))
            print("   peak %d, rise %.1f ±%.1f, fall %.1f ±%.1f, n %d" % (at, *interval(rises), *interval(falls), len(grid)))
        note(key, "rise", at, rises)
        note(key, "fall", at, falls)
    for (scenario, kind, p), seeds in curves.items():
        if kind == "pln":
            other = curves[scenario, "sln", p]
            less = lambda s, w: seeds[s][w] - other[s][w]
            narrow = [w for w in seeds[0] if 4 <= w <= 16]
            note((scenario, "pln, sln", p), "PLN - SLN", "128", [less(s, 128) for s in sorted(seeds)])
            note((scenario, "pln, sln", p), "SLN - PLN, mean", "4 to 16", [-statistics.mean([less(s, w) for w in narrow]) for s in sorted(seeds)])
    if as_csv:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(["scenario", "noise", "effective", "quantity", "width", "n", "value", "low", "high"])
        for r in rows:
            out.writerow(r[:6] + [f"{x:.6f}" for x in r[6:]])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data", nargs="?")
    p.add_argument("--summary", metavar="CSV")
    p.add_argument("--csv", action="store_true", help="the intervals of --summary as CSV")
    p.add_argument("--out")
    p.add_argument("--epochs", type=int, default=2000)
    p.add_argument("--lr", type=float, default=1e-4)
    p.add_argument("--seeds", type=int, default=15)
    p.add_argument("--widths", default="2,4,6,8,12,16,24,32,64,128")
    p.add_argument("--scenarios", default="s1,s2")
    p.add_argument("--noise", default="none:0,pln:0.1,pln:0.2,sln:0.1,sln:0.2")
    p.add_argument("--last-relu", action="store_true", help="ReLU after the third layer, too")
    o = p.parse_args()
    if o.summary:
        return summary(o.summary, o.csv)
    if not o.data or not o.out:
        p.error("give the folder of MNIST and --out, or --summary")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    find = lambda part: next(os.path.join(o.data, f) for f in os.listdir(o.data) if part in f)
    data = []
    for part in ("train", "t10k"):
        x = idx(find(part + "-images")).reshape(-1, 784).astype(np.float32) / 255
        data += [torch.from_numpy(x).to(dev), idx(find(part + "-labels")).astype(np.int64)]
    worlds = []
    for seed in range(o.seeds):
        tp, ts = test_pairs(data[3], np.random.default_rng([seed, 1]))
        for scenario in o.scenarios.split(","):
            for noise in o.noise.split(","):
                kind, rate = noise.split(":")
                rng = np.random.default_rng([seed, 2, len(worlds)])
                pairs, same = training_pairs(data[1], scenario, kind, float(rate), rng)
                worlds.append(dict(scenario=scenario, kind=kind, rate=rate, seed=seed, pairs=pairs, same=same, test_pairs=tp, test_same=ts))
    with open(o.out, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["scenario", "noise", "effective", "width", "seed", "train_error", "test_error"])
        for width in map(int, o.widths.split(",")):
            fit, test = train(width, worlds, data, dev, o.epochs, o.lr, o.last_relu)
            for w, a, b in zip(worlds, fit, test):
                out.writerow([w["scenario"], w["kind"], w["rate"], width, w["seed"], f"{a:.6f}", f"{b:.6f}"])
            f.flush()


main()
