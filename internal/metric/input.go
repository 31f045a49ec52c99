package metric

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
)

// ErrInput is wrapped by every error about embeddings or labels that cannot be
// scored.
var ErrInput = errors.New("cannot score")

// checkRows verifies that x is (n, d) and finite, with one label a row.
func checkRows(what string, x []float32, n, d int, labels []int32) error {
	if n > 0 && d > 0 && len(x)/d == n && len(x)%d == 0 && len(labels) != n {
		return fmt.Errorf("%w: %d %s but %d labels", ErrInput, n, what, len(labels))
	}
	return CheckMatrix(ErrInput, what, x, n, d)
}

// CheckMatrix verifies that x is (n, d) and finite, n and d at least 1. Errors wrap kind; what
// names the rows.
func CheckMatrix(kind error, what string, x []float32, n, d int) error {
	switch {
	case n < 1:
		return fmt.Errorf("%w: no %s", kind, what)
	case d < 1:
		return fmt.Errorf("%w: %s have %d dimensions", kind, what, d)
	case n > math.MaxInt32:
		return fmt.Errorf("%w: %d %s are more than %d", kind, n, what, math.MaxInt32)
	case len(x)/d != n || len(x)%d != 0:
		return fmt.Errorf("%w: %d %s of %d dimensions need %d numbers, got %d", kind, n, what, d, n*d, len(x))
	}
	if i, ok := kernel.AllFinite(x); !ok {
		row := strings.TrimPrefix(what+" row", "rows ")
		return fmt.Errorf("%w: %s %d column %d is %v: drop the row or look for divergence in training", kind, row, i/d, i%d, x[i])
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

// spaciousScale is safeScale for vectors of d numbers of which few may be as
// large as maxAbs: one that diverged must not make all others vanish, so that the
// largest squared length goes up to 2^124.
func spaciousScale(maxAbs float32, d int) float32 {
	s := safeScale(maxAbs)
	if s < 1 {
		s = min(1, s*float32(math.Ldexp(1, (120-bits.Len(uint(d)))/2)))
	}
	return s
}

func scaled(x []float32, s float32) []float32 {
	if s == 1 {
		return x
	}
	y := pages.Make[float32](len(x))
	for i, v := range x {
		y[i] = v * s
	}
	return y
}

// directions multiplies those rows of queries x and gallery g, d numbers each,
// whose products with others could overflow or vanish by powers of two of their
// own: that changes no direction. Rows below the normal numbers, which have lost
// digits, stay as they are. x and g may be the same slice.
func directions(x, g []float32, d int) (dx, dg []float32) {
	dg = evened(g, d)
	if len(x) == len(g) && &x[0] == &g[0] {
		return dg, dg
	}
	return evened(x, d), dg
}

func evened(x []float32, d int) []float32 {
	y := x
	for at := 0; at < len(x); at += d {
		row := x[at : at+d]
		most := kernel.MaxAbs(row)
		s := safeScale(most)
		if s == 1 || most < 0x1p-126 {
			continue
		}
		if &y[0] == &x[0] {
			y = slices.Clone(x)
		}
		copy(y[at:], scaled(row, s))
	}
	return y
}
