package labeled

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

// ownRows is the frame of losses that are a mean over the rows of a batch that count, each
// with a term of its cosines to the others.
type ownRows struct {
	counts func(positives, negatives int) bool // whether a row with so many counts
	row    func(i int) (value float64)         // writes the slopes of row i, without the mean

	c      loss.OwnCosines
	labels []int32
	rows   classMates
	scale  float64
	terms  []rowTerm
}

// Eval implements Objective on t.Labels. The tuples are rows that count. Positive and
// Negative of the result are means of 1 - s.
func (l *ownRows) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.rows.group(t.Labels)
	counted := 0
	for i := range t.Labels {
		if positives := l.positives(i); l.counts(positives, n-1-positives) {
			counted++
		}
	}
	l.scale = 1 / float64(max(counted, 1))
	l.c.Load(z)
	l.terms = loss.Grow(l.terms, n)
	par.Do(n, 4, l)
	if grad != nil {
		l.c.Fold()
		l.c.Turns(1, grad)
	}
	res := addTerms(l.terms)
	res.Loss *= l.scale
	return res, nil
}

// Run does rows [lo, hi).
func (l *ownRows) Run(lo, hi int) {
	for i := lo; i < hi; i++ {
		var t rowTerm
		cos, slope := l.c.Row(i)
		t.apartRow(cos, l.rows.of(l.labels[i]), i)
		if l.counts(t.positives, t.others) {
			t.tuples, t.value = 1, l.row(i)
			if kernel.MaxAbs(slope) > 0 {
				t.active = 1
			}
			kernel.ScaleRow(float32(l.scale), slope)
		}
		l.terms[i] = t
	}
}

// positives is their number, of row i.
func (l *ownRows) positives(i int) int { return len(l.rows.of(l.labels[i])) - 1 }

// positive says whether row j is a positive of row i.
func (l *ownRows) positive(i, j int) bool { return j != i && l.labels[j] == l.labels[i] }

func both(positives, negatives int) bool  { return positives > 0 && negatives > 0 }
func found(positives, negatives int) bool { return positives > 0 }
