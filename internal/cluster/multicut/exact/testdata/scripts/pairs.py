#!/usr/bin/python3
"""Pair graphs with noisy labels and their least number of errors, proven by an integer program (scipy's HiGHS with
cycle inequalities that are added as they are violated), for exact_test.go. Needs numpy and scipy; a minute each for the
large ones.
usage: pairs.py [folder]"""
import heapq, json, random, sys, time
import numpy as np
from collections import defaultdict, deque
from scipy.optimize import milp, LinearConstraint, Bounds, linprog
from scipy.sparse import csr_matrix

def dense_graph(nc, Nc, P, rng, neg="same"):
    """list of (u,v,label,clean) ; node id = c*Nc+k"""
    prs = []
    for c in range(nc):
        for k in range(Nc):
            prs.append((c*Nc+k, c*Nc+(k+1) % Nc, 1))
            d = (c + rng.randrange(1, nc)) % nc
            j = k if neg == "same" else rng.randrange(Nc)
            prs.append((c*Nc+k, d*Nc+j, 0))
    return [(u, v, l ^ (rng.random() < P), l) for u, v, l in prs]

def aggregate(prs):
    s, d = defaultdict(int), defaultdict(int)
    for u, v, l, _ in prs:
        key = (min(u, v), max(u, v)); (s if l else d)[key] += 1
    const = sum(min(s[e], d[e]) for e in set(s) | set(d))
    w = {e: s[e]-d[e] for e in set(s) | set(d) if s[e] != d[e]}
    return const, w

def comps(n, edges, x):
    p = list(range(n))
    def find(a):
        while p[a] != a: p[a] = p[p[a]]; a = p[a]
        return a
    for (u, v), xe in zip(edges, x):
        if xe < .5: p[find(u)] = find(v)
    return [find(i) for i in range(n)]

def separate(n, edges, x, adj, integral):
    rows = []
    cc = comps(n, edges, x) if integral else None
    for e, (u, v) in enumerate(edges):
        if integral:
            if x[e] < .5 or cc[u] != cc[v]: continue
            prev = {u: None}; q = deque([u])
            while q and v not in prev:
                a = q.popleft()
                for b, f in adj[a]:
                    if f != e and x[f] < .5 and b not in prev: prev[b] = (a, f); q.append(b)
        else:
            if x[e] < 1e-6: continue
            dist = {u: 0.0}; prev = {u: None}; h = [(0.0, u)]; done = set()
            while h:
                dd, a = heapq.heappop(h)
                if a in done: continue
                done.add(a)
                if a == v or dd >= x[e]-1e-6: break
                for b, f in adj[a]:
                    if f == e: continue
                    nd = dd + x[f] + 1e-9
                    if nd < x[e]-1e-6 and nd < dist.get(b, 1e9): dist[b] = nd; prev[b] = (a, f); heapq.heappush(h, (nd, b))
            if v not in done: continue
        path, a = [], v
        while prev[a] is not None: a, f = prev[a]; path.append(f)
        rows.append((e, path))
    return rows

def multicut(n, w, tlimit=120, lp_only=False):
    edges = sorted(w); m = len(edges); wv = np.array([w[e] for e in edges], float)
    adj = [[] for _ in range(n)]
    for i, (u, v) in enumerate(edges): adj[u].append((v, i)); adj[v].append((u, i))
    base = -wv[wv < 0].sum()                 # sum |w| of negative edges; cost = base + sum w x
    cons = []; seen = set(); t0 = time.time(); mode_int = False; lpval = None
    while True:
        if cons:
            r, c, v = [], [], []
            for i, (e, path) in enumerate(cons):
                r.append(i); c.append(e); v.append(1.0)
                for f in path: r.append(i); c.append(f); v.append(-1.0)
            A = csr_matrix((v, (r, c)), shape=(len(cons), m)); ub = np.zeros(len(cons))
        if not mode_int:
            res = linprog(wv, A_ub=A if cons else None, b_ub=ub if cons else None, bounds=(0, 1), method="highs")
            x = res.x
        else:
            res = milp(wv, constraints=[LinearConstraint(A, -np.inf, ub)] if cons else None, integrality=np.ones(m), bounds=Bounds(0, 1),
                       options={"time_limit": max(5, tlimit-(time.time()-t0)), "mip_rel_gap": 1e-9})
            if res.x is None: return None
            x = np.round(res.x)
        new = []
        for e, p in separate(n, edges, x, adj, mode_int):
            key = (e, tuple(sorted(p)))
            if key not in seen: seen.add(key); new.append((e, p))
        cons += new
        if not new:
            if not mode_int:
                lpval = base + res.fun
                if lp_only or np.allclose(x, np.round(x), atol=1e-6): return base + res.fun, lpval, comps(n, edges, np.round(x))
                mode_int = True
            else: return base + res.fun, lpval, comps(n, edges, x)
        if time.time() - t0 > tlimit: return None

if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    for nc, Nc, P, sd in [(3, 6, .2, 1), (5, 10, .1, 3), (10, 20, .1, 4), (10, 300, .1, 11), (10, 300, .2, 11)]:
        prs = dense_graph(nc, Nc, P, random.Random(sd)); const, w = aggregate(prs); r = multicut(nc*Nc, w, 600)
        json.dump(dict(n_classes=nc, per_class=Nc, P=P, nodes=nc*Nc, pairs=[[u, v, int(l)] for u, v, l, _ in prs], flips=sum(l != c for _, _, l, c in prs),
                       contradictory_duplicates=const, min_errors=int(round(r[0]+const)), cycle_lp_bound=round(r[1]+const, 6)),
                  open(f"{folder}/dibs_{nc}x{Nc}_P{int(P*100):02d}.json", "w"), separators=(",", ":"))
        print(nc, Nc, P, "min errors", int(round(r[0]+const)), "of", len(prs), "LP", round(r[1]+const, 3), flush=True)
