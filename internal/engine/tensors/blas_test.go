package tensors

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Ssyrk against gonum's own: both triangles, both storages, the other triangle
// untouched.
func TestSsyrkAgreesWithGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][2]int{{0, 3}, {1, 1}, {7, 0}, {37, 20}, {70, 130}} {
		n, k := s[0], s[1]
		for _, ul := range []blas.Uplo{blas.Upper, blas.Lower} {
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans} {
				rows, lda := n, k+2
				if trans != blas.NoTrans {
					rows, lda = k, n+2
				}
				a, c, want := make([]float32, rows*lda), make([]float32, n*(n+1)), make([]float32, n*(n+1))
				for i := range a {
					a[i] = float32(r.NormFloat64())
				}
				for i := range c {
					c[i] = float32(r.NormFloat64())
				}
				old := append([]float32(nil), c...)
				copy(want, c)
				gonum.Implementation{}.Ssyrk(ul, trans, n, k, -0.5, a, lda, 2, want, n+1)
				BLAS{}.Ssyrk(ul, trans, n, k, -0.5, a, lda, 2, c, n+1)
				for at, v := range c {
					i, j := at/(n+1), at%(n+1)
					if in := j < n && (ul == blas.Upper && j >= i || ul == blas.Lower && j <= i); !in {
						if v != old[at] {
							t.Fatalf("%v %c %c: wrote outside the triangle, at (%d, %d)", s, ul, trans, i, j)
						}
						continue
					}
					if !(math.Abs(float64(v-want[at])) <= 1e-5*float64(k+4)) {
						t.Fatalf("%v %c %c at (%d, %d): got %g, want %g", s, ul, trans, i, j, v, want[at])
					}
				}
			}
		}
	}
}

func TestSsyrkRefusesBadValues(t *testing.T) {
	for name, f := range map[string]func(){
		"triangle":  func() { BLAS{}.Ssyrk('x', blas.NoTrans, 1, 1, 1, []float32{1}, 1, 0, []float32{1}, 1) },
		"transpose": func() { BLAS{}.Ssyrk(blas.Upper, 'x', 1, 1, 1, []float32{1}, 1, 0, []float32{1}, 1) },
		"stride": func() {
			BLAS{}.Ssyrk(blas.Upper, blas.NoTrans, 2, 2, 1, make([]float32, 4), 1, 0, make([]float32, 4), 2)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
