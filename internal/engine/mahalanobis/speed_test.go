package mahalanobis

import (
	"fmt"
	"testing"
)

func BenchmarkRisk(b *testing.B) {
	for _, c := range []struct {
		n    int
		sums Sums
	}{{200, Exact}, {200, Interpolated}, {2000, Interpolated}} {
		for _, gradient := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/%s/gradient=%v", c.n, c.sums, gradient), func(b *testing.B) {
				p := sample(b, c.n, c.n, 8, 1)
				r := mustRisk(b, mustLoss(b, Logistic, 0.1, 0), c.sums, p)
				theta, grad := somewhere(8, 1, 1), make([]float64, 36)
				r.Value(theta)
				b.ReportAllocs()
				for b.Loop() {
					if gradient {
						r.ValueGrad(theta, grad)
					} else {
						r.Value(theta)
					}
				}
			})
		}
	}
}
