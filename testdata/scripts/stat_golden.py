"""Golden values of internal/stat/stat_test.go: each line prints the values of one test."""
import numpy as np
import scipy
from scipy import stats

print("scipy", scipy.__version__, "numpy", np.__version__)
print("T95", [stats.t.ppf(0.975, n - 1).item() for n in (2, 3, 4, 10, 1000)])
x = [0.31, -1.2, 4.5, 0.02, 0.7, 0.7]
print("mean", np.mean(x).item(), "se", stats.sem(x).item(), "interval", stats.t.interval(0.95, len(x) - 1, np.mean(x), stats.sem(x)))
print("median", np.median(x).item(), np.median(x[:5]).item())
v = [1, 2, 4, 8, 16, 32, 64]
print("linear", [np.percentile(v, 100 * p).item() for p in (0, 0.025, 0.5, 0.975, 1)])
print("nearest", [np.percentile(v, p, method="inverted_cdf").item() for p in (1, 14, 15, 50, 90, 99, 100)])
for k, n in ((0, 10), (8, 10), (10, 10), (9812, 10000), (1, 3)):
    for method in ("wilson", "exact"):
        ci = stats.binomtest(k, n).proportion_ci(0.95, method=method)
        print(method, k, n, float(ci.low), float(ci.high))
print("line", stats.linregress([0.5, 1, 4, 9], [2, -1, 3.5, 7]))
