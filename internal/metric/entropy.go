package metric

import (
	"math"
	"slices"

	"tercet/internal/par"
)

// entropies holds H(classes), H(clusters) and their mutual information, in nats.
type entropies struct{ class, cluster, mutual float64 }

func entropiesOf(t *contingency) entropies {
	n := float64(t.n)
	e := entropies{class: entropy(t.class, n), cluster: entropy(t.cluster, n)}
	for _, c := range t.cells {
		v := float64(c.count)
		e.mutual += float64(v / n * math.Log(n*v/(float64(t.class[c.class])*float64(t.cluster[c.cluster]))))
	}
	// Rounding leaves values such as -1e-17 for independent labels; MI is never
	// negative and never more than either entropy.
	e.mutual = min(max(e.mutual, 0), e.class, e.cluster)
	if e.mutual < 1e-15 {
		e.mutual = 0
	}
	return e
}

func entropy(sizes []int64, n float64) float64 {
	if len(sizes) == 1 {
		return 0
	}
	var h float64
	for _, s := range sizes {
		p := float64(s) / n
		h -= float64(p * math.Log(p))
	}
	return h
}

func (e entropies) homogeneity() float64 {
	if e.class == 0 {
		return 1
	}
	return e.mutual / e.class
}

func (e entropies) completeness() float64 {
	if e.cluster == 0 {
		return 1
	}
	return e.mutual / e.cluster
}

// normalized returns MI over a mean of both entropies.
func (e entropies) normalized(mean float64) float64 {
	switch {
	case e.class == 0 && e.cluster == 0:
		return 1
	case e.mutual == 0:
		return 0
	}
	return min(e.mutual/mean, 1)
}

// ami is adjusted mutual information with the arithmetic mean.
func ami(t *contingency, e entropies) float64 {
	same := len(t.class) == len(t.cluster)
	if same && (len(t.class) == 1 || len(t.class) == t.n) {
		return 1
	}
	if len(t.class) == 1 || len(t.cluster) == 1 {
		return 0 // one side has no information: MI and its expectation are both 0
	}
	expected := expectedMutual(t)
	const eps = 0x1p-52
	above := float64((e.class+e.cluster)/2) - expected
	if math.Abs(above) < eps {
		above = math.Copysign(eps, above)
	}
	return (e.mutual - expected) / above
}

// expectedMutual is the expectation of MI over labels with the sizes of t at
// random (hypergeometric cells; Vinh, Epps and Bailey 2010, eq. 24a). Equal
// sizes are grouped: with u different class sizes and v different cluster sizes
// there are u*v sums, each of at most the smaller size, so thousands of small
// classes cost no more than a few.
func expectedMutual(t *contingency) float64 {
	a, b := grouped(t.class), grouped(t.cluster)
	n := t.n
	logFactorial := make([]float64, n+1)
	par.For(n+1, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			logFactorial[i], _ = math.Lgamma(float64(i) + 1)
		}
	})
	part := make([]float64, len(a))
	par.Each(len(a), 1, func(i int) {
		for j := range b {
			part[i] += float64(float64(a[i].times) * float64(b[j].times) * expectedCell(a[i].size, b[j].size, n, logFactorial))
		}
	})
	var sum float64
	for _, p := range part {
		sum += p
	}
	return sum
}

// expectedCell is the expectation of one cell's part of MI, for a class of a
// items and a cluster of b among n.
func expectedCell(a, b, n int, logFactorial []float64) float64 {
	fixed := logFactorial[a] + logFactorial[b] + logFactorial[n-a] + logFactorial[n-b] - logFactorial[n]
	logN := math.Log(float64(n)) - math.Log(float64(a)) - math.Log(float64(b))
	var sum float64
	for k := max(1, a+b-n); k <= min(a, b); k++ {
		logP := fixed - logFactorial[k] - logFactorial[a-k] - logFactorial[b-k] - logFactorial[n-a-b+k]
		sum += float64(float64(k) / float64(n) * (logN + math.Log(float64(k))) * math.Exp(logP))
	}
	return sum
}

type sizeGroup struct{ size, times int }

// grouped counts equal sizes, ascending.
func grouped(sizes []int64) []sizeGroup {
	s := slices.Sorted(slices.Values(sizes))
	var g []sizeGroup
	for _, v := range s {
		if len(g) == 0 || g[len(g)-1].size != int(v) {
			g = append(g, sizeGroup{size: int(v)})
		}
		g[len(g)-1].times++
	}
	return g
}
