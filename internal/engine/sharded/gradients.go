package sharded

import (
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
	"tercet/internal/ranks"
)

// gatherGradients moves the parameters' gradients to one slice, whose length the ranks
// divide.
func (m *Model) gatherGradients() {
	n := 0
	for _, p := range m.Params() {
		if p.Trained() {
			n += len(p.Grad.Data)
		}
	}
	piece := (n + m.size - 1) / m.size
	m.flat, m.pieces = pages.Make[float32](piece*m.size), pages.Make[float32](piece*m.size)
	at := 0
	for _, p := range m.Params() {
		if p.Trained() {
			end := at + len(p.Grad.Data)
			copy(m.flat[at:end], p.Grad.Data)
			p.Grad.Data = m.flat[at:end:end]
			at = end
		}
	}
}

// sum adds the gradients of the ranks, each of which is that of a subtree of the shards,
// by the upper levels of the tree: each rank adds one piece, and gives it to all.
func (m *Model) sum() {
	m.comm.Alltoall(ranks.Bytes(m.flat), ranks.Bytes(m.pieces))
	n := len(m.flat) / m.size
	for step := 1; step < m.size; step *= 2 {
		for r := 0; r < m.size; r += 2 * step {
			a, b := m.pieces[r*n:(r+1)*n], m.pieces[(r+step)*n:(r+step+1)*n]
			kernel.Add(a, b, a)
		}
	}
	m.comm.Allgather(ranks.Bytes(m.pieces[:n]), ranks.Bytes(m.flat))
}
