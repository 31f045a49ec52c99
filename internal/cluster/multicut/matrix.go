package multicut

import (
	"fmt"

	"tercet/internal/par"
)

// Dense is a complete graph.
type Dense struct {
	N    int
	Cost []float32 // (N, N) symmetric, 0 on the diagonal
}

// NewDense checks cost (n, n): finite, symmetric, 0 on the diagonal. It keeps the
// slice.
func NewDense(n int, cost []float32) (*Dense, error) {
	if n < 1 || len(cost)/n != n || len(cost)%n != 0 {
		return nil, fmt.Errorf("%w: %d costs are no matrix of %d nodes", ErrInput, len(cost), n)
	}
	const tile = 64 // of rows and columns, so that both sides of the diagonal stay at hand
	for low := 0; low < n; low += tile {
		for left := 0; left <= low; left += tile {
			for i := low; i < min(low+tile, n); i++ {
				for j := left; j < min(left+tile, i+1); j++ {
					if a, b := cost[i*n+j], cost[j*n+i]; a != b || a-a != 0 || i == j && a != 0 {
						return nil, badCost(i, j, a, b)
					}
				}
			}
		}
	}
	return &Dense{n, cost}, nil
}

func badCost(i, j int, a, b float32) error {
	switch {
	case a-a != 0:
		return fmt.Errorf("%w: the cost of nodes %d and %d is %v", ErrInput, i, j, a)
	case i == j:
		return fmt.Errorf("%w: node %d has cost %v with itself, want 0", ErrInput, i, a)
	}
	return fmt.Errorf("%w: the cost of nodes %d and %d is %v one way and %v the other", ErrInput, i, j, a, b)
}

// Nodes implements Costs.
func (d *Dense) Nodes() int { return d.N }

// Row returns the costs of node i with all nodes. The slice is the graph's own.
func (d *Dense) Row(i int32) []float32 { return d.Cost[int(i)*d.N:][:d.N] }

// Each implements Costs.
func (d *Dense) Each(f func(i, j int32, cost float64)) {
	for i := range int32(d.N) {
		for j, c := range d.Row(i)[i+1:] {
			f(i, i+1+int32(j), float64(c))
		}
	}
}

// Objective implements Costs.
func (d *Dense) Objective(labels []int32) float64 {
	rows := make([]float64, d.N)
	par.Each(d.N, 32, func(i int) {
		sum, own, others := 0.0, labels[i], labels[i+1:d.N]
		for j, c := range d.Row(int32(i))[i+1:] {
			if others[j] != own {
				sum += float64(c)
			}
		}
		rows[i] = sum
	})
	sum := 0.0
	for _, r := range rows {
		sum += r
	}
	return sum
}
