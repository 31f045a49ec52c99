package nn

import (
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/pages"
)

// Statistics says of which rows batch norm takes mean and variance in a pass whose rows
// are dealt to shards.
type Statistics uint8

const (
	// OfBatch takes them of all rows of all shards.
	OfBatch Statistics = iota
	// OfShard takes them of each shard's rows: ghost batch norm (Hoffer et al. 2017). The
	// running statistics follow the mean over shards.
	OfShard
)

// Deal says how the rows of the following passes belong to shards.
type Deal struct {
	// Bounds: shard i of this model has the rows from Bounds[i] to Bounds[i+1], at least
	// one. nil: one shard of all rows.
	Bounds []int
	// Rows is the number of rows of all shards, also of those that other processes have.
	Rows       int
	Statistics Statistics
	// Gather returns the numbers of all processes, by process; nil where this is the only
	// one. All give as many, and call it as often.
	Gather func(own []float64) []float64
}

// Deal makes the following passes those of shards: parameter gradients are taken for
// each shard alone and added by the fixed binary tree over shard indices,
// g(0..n) = g(0..n/2) + g(n/2..n). A process that has the gradient of a subtree can so
// add it to those of others: the sum has the same bits for any number of processes that
// is a power of two. Gradients must be 0 before Backward. Embeddings and input
// gradients do not depend on shards, but for batch norm.
func (m *Model) Deal(d Deal) { m.shards.Deal = d }

// shards is the Deal that the layers of a model share. A nil *shards is one shard.
type shards struct {
	Deal
	spare [][]float32 // of each level of the tree: a gradient that is to be added
}

// weighted is a layer with one or two parameters.
type weighted interface {
	// gradient adds to dw and db the parameters' gradients of rows [lo, hi), which are
	// those of a shard.
	gradient(shard, lo, hi int, dw, db []float32)
	// adds reports whether gradient of so many rows adds each number once, when it is
	// complete: then it can add to another shard's gradient.
	adds(rows int) bool
}

// count returns the number of shards.
func (s *shards) count() int {
	if s == nil {
		return 1
	}
	return max(1, len(s.Bounds)-1)
}

// rows returns the rows of a shard in a pass of n rows.
func (s *shards) rows(shard, n int) (lo, hi int) {
	if s == nil || s.Bounds == nil {
		return 0, n
	}
	return s.Bounds[shard], s.Bounds[shard+1]
}

// gradients adds the gradients of l's parameters, in a pass of n rows. A parameter that
// is nil or has no gradient is left out.
func (s *shards) gradients(l weighted, n int, weight, bias *Param) {
	s.subtree(l, n, 0, s.count(), 0, gradientOf(weight), gradientOf(bias))
}

func gradientOf(p *Param) []float32 {
	if p == nil || p.Grad == nil {
		return nil
	}
	return p.Grad.Data
}

// subtree sets dw and db, which are 0, to the gradient of shards [from, to).
func (s *shards) subtree(l weighted, n, from, to, level int, dw, db []float32) {
	if to-from == 1 {
		lo, hi := s.rows(from, n)
		l.gradient(from, lo, hi, dw, db)
		return
	}
	middle := (from + to) / 2
	s.subtree(l, n, from, middle, level+1, dw, db)
	if lo, hi := s.rows(middle, n); to-middle == 1 && l.adds(hi-lo) {
		l.gradient(middle, lo, hi, dw, db)
		return
	}
	sw, sb := s.scratch(level, len(dw), len(db))
	s.subtree(l, n, middle, to, level+1, sw, sb)
	kernel.Add(dw, sw, dw)
	kernel.Add(db, sb, db)
}

// scratch returns zeros for the right half of a level of the tree.
func (s *shards) scratch(level, weights, biases int) (dw, db []float32) {
	for len(s.spare) <= level {
		s.spare = append(s.spare, nil)
	}
	if cap(s.spare[level]) < weights+biases {
		s.spare[level] = pages.Make[float32](weights + biases)
	}
	all := s.spare[level][:weights+biases]
	clear(all)
	if biases > 0 {
		db = all[weights:]
	}
	return all[:weights:weights], db
}

// gather returns the numbers of all processes.
func (s *shards) gather(own []float64) []float64 {
	if s == nil || s.Gather == nil {
		return own
	}
	return s.Gather(own)
}

func (b *base) deal(s *shards) { b.shards = s }
