package cluster

import (
	"fmt"

	"tercet/internal/engine/kernel"
)

// unitFrame is the frame of the directions of the n rows of x.
func unitFrame(x []float32, n, d int) (frame, error) {
	for i := range n {
		if kernel.SumSquares(x[i*d:(i+1)*d]) == 0 {
			return frame{}, fmt.Errorf("%w: row %d is zero and has no direction: drop it, or do not use the spherical variant", ErrInput, i)
		}
	}
	return frame{d: d, mean: make([]float64, d), scale: 1, unit: true}, nil
}
