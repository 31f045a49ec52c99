package metric

import (
	"math"
	"math/big"
)

// pairs counts unordered pairs of different items. With n < 2^31 items each
// count fits in an int64; their products do not, and are taken in big.Int.
type pairs struct {
	both    int64 // same class, same cluster
	class   int64 // same class
	cluster int64 // same cluster
	all     int64
}

func pairsOf(t *contingency) pairs {
	choose := func(n int64) int64 { return n * (n - 1) / 2 }
	p := pairs{all: choose(int64(t.n))}
	for _, c := range t.cells {
		p.both += choose(c.count)
	}
	for _, s := range t.class {
		p.class += choose(s)
	}
	for _, s := range t.cluster {
		p.cluster += choose(s)
	}
	return p
}

func (p pairs) precision() float64 { return ratio(p.both, p.cluster) }
func (p pairs) recall() float64    { return ratio(p.both, p.class) }

func ratio(a, of int64) float64 {
	if of == 0 {
		return 1
	}
	return float64(a) / float64(of)
}

func (p pairs) rand() float64 {
	return ratio(p.all-p.class-p.cluster+2*p.both, p.all)
}

func (p pairs) fowlkesMallows() float64 {
	if p.both == 0 {
		return 0
	}
	return math.Sqrt(p.precision()) * math.Sqrt(p.recall())
}

// adjustedRand is (both - e) / ((class + cluster)/2 - e) with e = class*cluster/all,
// the expected number, exact until the last division.
func (p pairs) adjustedRand() float64 {
	if p.both == p.class && p.both == p.cluster {
		return 1
	}
	b := big.NewInt
	product := new(big.Int).Mul(b(p.class), b(p.cluster))
	above := new(big.Int).Mul(b(p.both), b(p.all))
	above.Sub(above, product).Mul(above, b(2))
	below := new(big.Int).Mul(new(big.Int).Add(b(p.class), b(p.cluster)), b(p.all))
	below.Sub(below, product.Mul(product, b(2)))
	v, _ := new(big.Rat).SetFrac(above, below).Float64()
	return v
}
