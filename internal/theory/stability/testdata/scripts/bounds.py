#!/usr/bin/env python3
"""Writes ../bounds.json: every bound at drawn inputs, from the paper's formulae with 50 digits.

Written from the text of the paper and its appendix alone. Where a quantity has a definition, it is computed by that
and not by a closed form: sums over samples are summed, the best eps is searched, Bernstein's bound is solved for,
ceil(log2 .) is counted. Run: /usr/bin/python3 bounds.py (mpmath).
"""
import json, os, random
from mpmath import mp, mpf, log, sqrt, e, findroot, exp
mp.dps = 50
PHI = (sqrt(mpf(5)) - 1) / 2

def ceil_log2(x):
    k, p = 0, 1
    while p < x: p, k = 2 * p, k + 1
    return k

def theorem1(g, M, p, n, d):
    return 6*g + e*(8*M*(1/sqrt(mpf(n)) + 2/sqrt(mpf(p - 1)))*sqrt(log(e/d)) + 24*sqrt(mpf(2))*g*(ceil_log2(n*(p - 1)**2) + 2)*log(e/d))

def lemma3(b, tau, p, n, d, form):
    if form == "paper":
        return sum(2*b*log(1/d)/(3*m) + sqrt(2*tau*log(1/d)/m) for m in (p//2, n))
    m = 0                                   # as many triplets without a common sample as there are
    while 2*(m + 1) <= p and m + 1 <= n: m += 1
    return sqrt(2*tau*log(2/d)/m) + 2*b*log(2/d)/(3*m)

def lemma4(L, s, p, n, form, tight):        # from 2 * (share of triplets changed) * L * ||dw|| >= (sigma/2 or sigma) ||dw||^2
    Z = mpf(p)*(p - 1)*n
    pos, neg = 2*(2*(p - 1)*n)/Z, 2*(p*(p - 1))/Z
    k = 1 if (tight and form == "corrected") else 2
    both = [k*pos*L*L/s, k*neg*L*L/s]
    return min(both) if form == "paper" else max(both)

def lemma5(L, s, p, n, form, tight):
    if tight and form == "corrected": return L*sqrt(3*lemma4(L, s, p, n, form, True)/s)
    return L*sqrt(12*lemma4(L, s, p, n, form, False)/s)

def theorem3(L, s, p, n, b, tau, d, form, tight):
    d = d if form == "paper" else d/2
    return lemma3(b, tau, p, n, d, form) + theorem1(lemma4(L, s, p, n, form, tight), lemma5(L, s, p, n, form, tight), p, n, d)

def lemma10(mu, d, form):
    l = log(1/d)
    if form == "paper": return (1 + sqrt(3*l/mu))*mu
    t = findroot(lambda t: t*t/(2*(mu + t/3)) - l, 2*l + sqrt(2*mu*l))      # exp(-t^2/(2(mu + t/3))) = d
    assert t > 0 and abs(exp(-t*t/(2*(mu + t/3))) - d) < mpf(10)**-40
    return mu + t

def theorem2(L, c, T, M, p, n, d, form):
    T = mpf(T)
    if form == "paper":                                                       # eqs. 8 and 9
        x = (1 + sqrt(3*log(1/d)/max(T/p, T/(2*n))))*(T/p + T/(2*n))
        return theorem1(2*L*L*c/sqrt(T)*x, M, p, n, d)
    x = max(lemma10(mu, d/2/(p + n), form) for mu in (2*T/p, T/n))
    return theorem1(2*L*L*c/sqrt(T)*x, M, p, n, d/2)

def lemma6(alpha, p, n, risk, pos, neg, ep, form):
    # sums of the displacements of p positives and n negatives that have these means
    dp, dn = [pos*2*(i + 1)/(p + 1) for i in range(p)], [neg*2*(k + 1)/(n + 1) for k in range(n)]
    if form == "paper":
        s = sum(2*a + b for a in dp for b in dn)
        return 3*(ep + alpha)/(2*mpf(p)*(p - 1)*n)*s + alpha*risk/ep
    s = (p - 1)*n*2*sum(dp) + p*(p - 1)*sum(dn)                               # over i != j and k
    return 3*(ep + alpha)/(2*mpf(p)*(p - 1)*n)*s + alpha*risk/ep

def theorem4(alpha, s, p, n, risk, ep, form):
    k = p - 1 if form == "paper" else 1
    return (alpha/ep + 1536*alpha*(ep + alpha)/(mpf(p)**2*k*s*s) + 256*alpha*(ep + alpha)/(3*k*mpf(n)**2*s*s))*risk

def best(f):                                                                  # golden section over log eps
    a, b = mpf(-60), mpf(60)
    for _ in range(600):
        x, y = b - PHI*(b - a), a + PHI*(b - a)
        if f(exp(x)) < f(exp(y)): b = y
        else: a = x
    return exp((a + b)/2)

def corollary2(B, s, p, n, b, tau, norm, d, form, tight):
    L = (4 if tight else 8)*B*B
    dd = d if form == "paper" else d/2
    return theorem3(L, s, p, n, b, tau, d, form, tight) + lemma3(b, tau, p, n, dd, form) + s/2*norm**2

def corollary3(alpha, p, n, norm, risk, form):
    m = mpf(min(p, n))
    s = m**mpf("-0.75")*sqrt(risk)/norm if form == "paper" else max(sqrt(risk/m)/norm, 8*alpha/m)
    if s*min(p, n) < 8*alpha: return None, s
    total = risk + s/2*norm**2
    return theorem4(alpha, s, p, n, total, best(lambda ep: theorem4(alpha, s, p, n, total, ep, form)), form) + s/2*norm**2, s

rng = random.Random(20230216)
def number(lo, hi): return float(f"{lo*(hi/lo)**rng.random():.4g}")
def whole(lo, hi): return int(lo*(hi/lo)**rng.random())
out = []
def add(bound, form, constants, given, value, **more):
    out.append(dict(bound=bound, form=form, constants=constants, given=given, value=float(value), **{k: float(v) for k, v in more.items()}))
M_ = lambda g: {k: (v if isinstance(v, int) else mpf(v)) for k, v in g.items()}
for _ in range(6):
    for form in ("paper", "corrected"):
        p, n, d = whole(2, 1e6), whole(1, 1e6), number(1e-8, .36)
        q = M_(g := dict(n_pos=p, n_neg=n, delta=d, gamma=number(1e-6, 1), m=number(.01, 10)))
        add("theorem1", form, "paper", g, theorem1(q["gamma"], q["m"], p, n, q["delta"]))
        q = M_(g := dict(n_pos=p, n_neg=n, delta=number(1e-8, .99), b=number(.1, 100), tau=number(.001, 10)))
        add("lemma3", form, "paper", g, lemma3(q["b"], q["tau"], p, n, q["delta"], form))
        for constants in ("paper", "tight"):
            tight = constants == "tight"
            q = M_(g := dict(n_pos=p, n_neg=n, l=number(.1, 50), sigma=number(1e-4, 10)))
            add("lemma4", form, constants, g, lemma4(q["l"], q["sigma"], p, n, form, tight))
            add("lemma5", form, constants, g, lemma5(q["l"], q["sigma"], p, n, form, tight))
            q = M_(g := dict(g, delta=d, b=number(.1, 100), tau=number(.001, 10)))
            add("theorem3", form, constants, g, theorem3(q["l"], q["sigma"], p, n, q["b"], q["tau"], q["delta"], form, tight))
            B = number(.1, 3); L, al = ((4, 4) if tight else (8, 64)); L, al = L*mpf(B)**2, al*mpf(B)**4
            q = M_(g := dict(n_pos=p, n_neg=n, radius=B, delta=d, m=number(.01, 10), c=number(.01, 1)*float(2/al), steps=whole(1, 1e7)))
            add("theorem2", form, constants, g, theorem2(L, q["c"], q["steps"], q["m"], p, n, q["delta"], form), l=L, alpha=al)
            q = M_(g := dict(n_pos=p, n_neg=n, radius=B, delta=d, sigma=number(1e-4, 10), b=number(.1, 100), tau=number(.001, 10), norm=number(.01, 100)))
            add("corollary2", form, constants, g, corollary2(mpf(B), q["sigma"], p, n, q["b"], q["tau"], q["norm"], q["delta"], form, tight))
        q = M_(g := dict(mu=number(.01, 1e4), delta=number(1e-10, .99)))
        add("lemma10", form, "paper", g, lemma10(q["mu"], q["delta"], form))
        sp, sn = whole(2, 60), whole(1, 60)
        q = M_(g := dict(n_pos=sp, alpha=number(.1, 100), risk=number(.001, 1), moved_pos=number(1e-6, 1), moved_neg=number(1e-6, 1), eps=number(.01, 100)))
        add("lemma6", form, "paper", g, lemma6(q["alpha"], sp, sn, q["risk"], q["moved_pos"], q["moved_neg"], q["eps"], form))
        f = lambda ep: lemma6(q["alpha"], sp, 1, q["risk"], q["moved_pos"], q["moved_neg"], ep, form)
        g = dict(g, eps=0); ep = best(f); add("lemma6", form, "paper", g, f(ep), best=ep)
        p, n, al = whole(2, 1e6), whole(1, 1e6), number(.1, 100)
        q = M_(g := dict(n_pos=p, n_neg=n, alpha=al, sigma=number(1, 1000)*float(f"{8*al/min(p, n):.6g}")*1.001, risk=number(.001, 1), eps=number(.01, 100)))
        f = lambda ep: theorem4(q["alpha"], q["sigma"], p, n, q["risk"], ep, form)
        add("theorem4", form, "paper", g, f(q["eps"]))
        g = dict(g, eps=0); ep = best(f); add("theorem4", form, "paper", g, f(ep), best=ep)
        g = dict(n_pos=p, n_neg=n, alpha=number(.001, .1), norm=number(.01, 3), risk=number(.01, 10))
        q = M_(g); v, s = corollary3(q["alpha"], p, n, q["norm"], q["risk"], form)
        if v is not None: add("corollary3", form, "paper", g, v, sigma=s)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bounds.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(o) for o in out) + "\n]\n")
print(len(out), {b: sum(o["bound"] == b for o in out) for b in sorted({o["bound"] for o in out})})
