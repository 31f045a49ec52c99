package metric

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/kernel"
)

// ErrInput is wrapped by every error about embeddings or labels that cannot be
// scored.
var ErrInput = errors.New("cannot score")

// checkRows verifies that x is (n, d) and finite, with one label a row.
func checkRows(what string, x []float32, n, d int, labels []int32) error {
	if n > 0 && d > 0 && len(x)/d == n && len(x)%d == 0 && len(labels) != n {
		return fmt.Errorf("%w: %d %s but %d labels", ErrInput, n, what, len(labels))
	}
	return checkMatrix(what, x, n, d)
}

// checkMatrix verifies that x is (n, d) and finite.
func checkMatrix(what string, x []float32, n, d int) error {
	switch {
	case n < 1:
		return fmt.Errorf("%w: no %s", ErrInput, what)
	case d < 1:
		return fmt.Errorf("%w: %s have %d dimensions", ErrInput, what, d)
	case n > math.MaxInt32:
		return fmt.Errorf("%w: %d %s are more than %d", ErrInput, n, what, math.MaxInt32)
	case len(x)/d != n || len(x)%d != 0:
		return fmt.Errorf("%w: %d %s of %d dimensions want %d numbers, got %d", ErrInput, n, what, d, n*d, len(x))
	}
	if i, ok := kernel.AllFinite(x); !ok {
		return fmt.Errorf("%w: %s row %d column %d is %v: drop the row or look for divergence in training", ErrInput, what, i/d, i%d, x[i])
	}
	return nil
}

// safeScale returns the power of two by which vectors with components up to
// maxAbs are multiplied so that their squares neither overflow nor vanish. It
// is 1 for all usual sizes, and exact: no ranking changes.
func safeScale(maxAbs float32) float32 {
	if maxAbs == 0 || (maxAbs > 0x1p-30 && maxAbs < 0x1p40) {
		return 1
	}
	_, e := math.Frexp(float64(maxAbs))
	return float32(math.Ldexp(1, max(-126, min(126, -e))))
}

func scaled(x []float32, s float32) []float32 {
	if s == 1 {
		return x
	}
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v * s
	}
	return y
}
