package bench

import (
	"fmt"

	"tercet/internal/engine/kernel"
	"tercet/internal/lists"
	"tercet/internal/rng"
)

// product is C (m, n) = op(A) (m, k) * op(B) (k, n).
type product struct {
	m, n, k int
	ta, tb  bool
}

// smallCall is the number of multiply-adds below which several calls make one
// repetition, so that reading the clock does not count.
const smallCall = 20_000_000

// products are the shapes of the job gemm, small to large: squares, then the
// first layer of an MLP and of C2F2's classifier with their batches.
func products() []product {
	var out []product
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		for _, ta := range []bool{false, true} {
			for _, tb := range []bool{false, true} {
				out = append(out, product{n, n, n, ta, tb})
			}
		}
	}
	return append(out, product{m: 256, n: 200, k: 784}, product{m: 384, n: 1024, k: 3136})
}

// String is rows x summed x columns and the transposes, as in 256x784x200 nn.
func (p product) String() string {
	letter := map[bool]string{false: "n", true: "t"}
	return fmt.Sprintf("%dx%dx%d %s%s", p.m, p.k, p.n, letter[p.ta], letter[p.tb])
}

func prepareGemm(Options) ([]task, error) {
	out := lists.Map(products(), func(p product) task { return p.task() })
	return append(out, gram(1024, 1024), gram(2048, 512)), nil
}

// gram multiplies X (n, k) by its transpose: half of the textbook's products and
// the diagonal.
func gram(n, k int) task {
	var x, c []float32
	return task{
		name: fmt.Sprintf("gram %dx%d", n, k), warmUp: 2,
		direct: 2 * float64(n) * float64(n) * float64(k), executed: float64(n) * float64(n+1) * float64(k),
		run: repeat(func() error {
			if x == nil {
				x, c = normal(n*k, "x"), make([]float32, n*n)
			}
			kernel.Gram(n, k, x, k, c, n)
			return nil
		}),
		results: func(visit func(string, []float32)) { visit("C", c) },
	}
}

// task makes the matrices at the first repetition: the largest ones are then not
// held while others run.
func (p product) task() task {
	lda, ldb := p.k, p.n
	if p.ta {
		lda = p.m
	}
	if p.tb {
		ldb = p.k
	}
	calls := max(1, smallCall/(p.m*p.n*p.k))
	flops := 2 * float64(p.m) * float64(p.n) * float64(p.k)
	var a, b, c []float32
	return task{
		name: p.String(), direct: flops, executed: flops, warmUp: 2, calls: calls,
		run: repeat(func() error {
			if a == nil {
				a, b, c = normal(p.m*p.k, "a"), normal(p.k*p.n, "b"), make([]float32, p.m*p.n)
			}
			for range calls {
				kernel.Gemm(p.ta, p.tb, p.m, p.n, p.k, 1, a, lda, b, ldb, 0, c, p.n)
			}
			return nil
		}),
		results: func(visit func(string, []float32)) { visit("C", c) },
	}
}

// normal returns n standard normal numbers, the same for the same name.
func normal(n int, name string) []float32 {
	r := rng.New(0, "bench/"+name)
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}
