package train

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Spread says how far a batch of embeddings is from collapse.
type Spread struct {
	// Cosine is the mean cosine over distinct pairs of rows: 1 when all
	// embeddings point the same way.
	Cosine float64
	// Rank is the effective rank of the Gram matrix G of the normalized rows,
	// as its participation ratio (tr G)^2 / ||G||_F^2: 1 when all rows are
	// parallel, at most min(B, D).
	Rank float64
}

// spreadMeter computes Spread; it keeps its scratch between calls.
type spreadMeter struct{ unit, gram []float32 }

// measure returns the spread of z (B, D). Rows of length zero count as parallel
// to every row: a network that maps all to 0 has collapsed. B < 2 gives {1, 1}.
func (m *spreadMeter) measure(z *array.Array) Spread {
	n, d := z.Rows(), z.Cols()
	if n < 2 {
		return Spread{1, 1}
	}
	if cap(m.unit) < n*d {
		m.unit = make([]float32, n*d)
	}
	if cap(m.gram) < n*n {
		m.gram = make([]float32, n*n)
	}
	u, g := m.unit[:n*d], m.gram[:n*n]
	for i := range n {
		row := z.Data[i*d : (i+1)*d]
		var s float64
		for _, v := range row {
			s += float64(float64(v) * float64(v))
		}
		if s == 0 {
			return Spread{1, 1}
		}
		inv := 1 / math.Sqrt(s)
		for j, v := range row {
			u[i*d+j] = float32(float64(v) * inv)
		}
	}
	kernel.Gram(n, d, u, d, g, n)
	trace := 0.0
	for i := range n {
		trace += float64(g[i*n+i])
	}
	sum, squares := kernel.Sum(g), kernel.SumSquares(g)
	return Spread{Cosine: (sum - trace) / float64(n*(n-1)), Rank: trace * trace / squares}
}

// CollapseOptions sets the monitor. A batch counts as collapsed when its mean
// cosine is at least Cosine and its effective rank at most Rank, or when less
// than the fraction Active of its tuples has a gradient; Patience such checks in
// a row, after step Grace, stop the run.
type CollapseOptions struct {
	Every    int // steps between checks; 0 switches the monitor off
	Cosine   float64
	Rank     float64
	Active   float64 // 0 is off
	Patience int
	Grace    int
}

// CollapseError says that the embedding has collapsed to a point, or (Idle) that
// its batches hold next to nothing to learn from, and what helps.
type CollapseError struct {
	Step   int
	Idle   bool
	Spread Spread
	Active float64 // fraction of tuples with a gradient
	// Positive and Negative are the mean distances from the anchors.
	Positive, Negative float64
	Loss               float64
	Margin             float64
}

func (e *CollapseError) Error() string {
	if e.Idle {
		return fmt.Sprintf("learning has stopped at step %d: %.2g %% of the tuples active, loss %.4g (margin %.4g), mean cosine %.5f, effective rank %.2f. "+
			"Nearly all tuples are satisfied. What helps: a harder miner (miner.name: semihard or softhard), a larger margin (loss.margin, or loss.alpha), the triplet loss with a soft margin (loss.form: soft), "+
			"or train.collapse.active: 0 to train on", e.Step, 100*e.Active, e.Loss, e.Margin, e.Spread.Cosine, e.Spread.Rank)
	}
	return fmt.Sprintf("the embedding has collapsed at step %d: mean cosine %.5f, effective rank %.2f, %.0f %% of the tuples active, loss %.4g (margin %.4g). "+
		"Positives are at distance %.3g, negatives at %.3g: all images map to nearly one point. What helps: a lower learning rate (optimizer.lr), warm-up (optimizer.schedule.warmup), an easier miner (miner.name: semihard or random), "+
		"model.normalize: true, the triplet loss with a soft margin (loss.form: soft), or a milder defense", e.Step, e.Spread.Cosine, e.Spread.Rank, 100*e.Active, e.Loss, e.Margin, e.Positive, e.Negative)
}

// idle says that too few tuples are active.
func (o CollapseOptions) idle(active float64) bool { return active < o.Active }

// collapsed says that the embeddings are nearly one point.
func (o CollapseOptions) collapsed(s Spread) bool { return s.Cosine >= o.Cosine && s.Rank <= o.Rank }

// tripped updates the count of bad checks in a row and says whether the run has to
// stop.
func (o CollapseOptions) tripped(s Spread, active float64, step int, row *int) bool {
	if step <= o.Grace || !o.collapsed(s) && !o.idle(active) {
		*row = 0
		return false
	}
	*row++
	return *row >= o.Patience
}
