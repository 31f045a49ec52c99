package multicut

import "tercet/internal/par"

// Dense is a complete graph.
type Dense struct {
	N    int
	Cost []float32 // (N, N) symmetric, 0 on the diagonal
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
