"""Jobs on plain arrays: products with OpenBLAS, search and clustering with
scikit-learn."""

import numpy as np

import machine

SEED = 0

SIZES = (64, 128, 256, 512, 1024, 2048)


GRAMS = ((1024, 1024), (2048, 512))  # X (n, k) times its transpose


def shapes():
    """(m, n, k, transpose A, transpose B) of the products."""
    out = []
    for n in SIZES:
        for a in (False, True):
            for b in (False, True):
                out.append((n, n, n, a, b))
    out += [(256, 200, 784, False, False), (384, 1024, 3136, False, False)]
    return out


def shape_name(m, n, k, a, b):
    return f"{m}x{k}x{n} {'t' if a else 'n'}{'t' if b else 'n'}"


def gemm(threads, seconds, _):
    """numpy's matmul into a given array, which is OpenBLAS's sgemm."""
    rng = np.random.default_rng(SEED)
    parts, flops, spent, best = [], 0, 0.0, 0.0
    all_shapes = shapes()
    for m, n, k, ta, tb in all_shapes:
        a = rng.standard_normal((k, m) if ta else (m, k), dtype=np.float32)
        b = rng.standard_normal((n, k) if tb else (k, n), dtype=np.float32)
        a, b = a.T if ta else a, b.T if tb else b
        out = np.empty((m, n), np.float32)
        calls = max(1, int(2e7 / (m * n * k)))  # the clock's own time does not count

        def run():
            for _ in range(calls):
                np.matmul(a, b, out=out)

        t = machine.repeat(run, seconds / len(all_shapes), least=5)
        f = 2 * m * n * k
        parts.append({
            "name": shape_name(m, n, k, ta, tb),
            "gflops": f * calls / t.median / 1e9,
            "gflops_best": f * calls / t.best / 1e9,
        })
        flops += f
        spent += t.median / calls
        best += t.best / calls
    for n, k in GRAMS:
        x = rng.standard_normal((n, k), dtype=np.float32)
        out = np.empty((n, n), np.float32)
        # numpy sees that both are one matrix, and computes half of it (ssyrk).
        t = machine.repeat(lambda: np.matmul(x, x.T, out=out), seconds / len(all_shapes), least=5)
        f = 2 * n * n * k
        parts.append({"name": f"gram {n}x{k}", "gflops": f / t.median / 1e9, "gflops_best": f / t.best / 1e9})
        flops += f
        spent += t.median
        best += t.best
    return {
        "parts": parts,
        "flops": flops,
        "gflops": flops / spent / 1e9,
        "gflops_best": flops / best / 1e9,
        "seconds": spent,  # all products once
        "seconds_best": best,
        "versions": {**machine.versions(np), "blas": blas()},
    }


def blas():
    """The BLAS in use and its core type, where threadpoolctl tells."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "unknown"
    found = [f"{i['internal_api']} {i['version']} {i.get('architecture', '')}".strip()
             for i in threadpool_info() if i["user_api"] == "blas"]
    return ", ".join(found) or "unknown"


def knn(threads, seconds, quick):
    """Exact neighbors of every row among all rows, itself included."""
    import sklearn
    from sklearn.neighbors import NearestNeighbors

    n, d, k = 20_000 if quick else 60_502, 512, 11
    x = np.random.default_rng(SEED).standard_normal((n, d), dtype=np.float32)

    def run():
        NearestNeighbors(n_neighbors=k, algorithm="brute").fit(x).kneighbors(x)

    t = machine.repeat(run, seconds, warm_up=0, least=1)
    return rows(n, 2 * n * n * d, t, machine.versions(np, sklearn), shape=f"{n} x {d}, k = {k}")


def classes(n, d, k):
    """n rows of k classes: normal around centers that are four standard
    deviations apart, so that classes touch. Without classes every start would
    run into the limit of iterations."""
    rng = np.random.default_rng(SEED)
    centers = rng.standard_normal((k, d), dtype=np.float32) * (4 / np.sqrt(2 * d)).astype(np.float32)
    return centers[np.arange(n) % k] + rng.standard_normal((n, d), dtype=np.float32)


def kmeans_job(n, d, k, starts):
    def job(threads, seconds, quick):
        """Fits from another seed each time: starts differ in how soon they end."""
        import sklearn
        from sklearn.cluster import KMeans

        x = classes(n, d, k)
        iterations, inertia = [], []

        def run():
            fit = KMeans(k, n_init=starts, random_state=len(iterations)).fit(x)
            iterations.append(int(fit.n_iter_))
            inertia.append(float(fit.inertia_))

        t = machine.repeat(run, seconds, warm_up=1)
        out = rows(n, None, t, machine.versions(np, sklearn), shape=f"{n} x {d}, k = {k}, n_init = {starts}")
        out["iterations_of_best_start"] = iterations
        out["inertia"] = inertia
        return out

    return job


def rows(n, flops, times, versions, **extra):
    out = {"images_per_step": n, "images_per_s": n / times.median, "images_per_s_best": n / times.best,
           "times": times, "versions": versions, **extra}
    if flops:
        out.update(flops=flops, gflops=flops / times.median / 1e9, gflops_best=flops / times.best / 1e9)
    return out


JOBS = {
    "gemm": gemm,
    "knn": knn,
    "kmeans": kmeans_job(60_000, 128, 10, 10),
    "kmeans-100": kmeans_job(20_000, 512, 100, 1),
}
