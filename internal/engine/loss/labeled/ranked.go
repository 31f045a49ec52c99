package labeled

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

// ownRows is the frame of losses that are a mean over the rows of a batch that count, each
// with a term of its cosines to the others.
type ownRows struct {
	counts func(positives, negatives int) bool // whether a row with so many counts
	row    func(i int) (value float64)         // writes the slopes of row i, without the mean

	c         loss.OwnCosines
	labels    []int32
	positives []int // of each row
	scale     float64
	terms     []rowTerm
}

// Eval implements Objective on t.Labels. The tuples are rows that count. Positive and
// Negative of the result are means of 1 - s.
func (l *ownRows) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels, l.positives = t.Labels, loss.Grow(l.positives, n)
	counted := 0
	for i, y := range t.Labels {
		l.positives[i] = -1 // itself
		for _, other := range t.Labels {
			if other == y {
				l.positives[i]++
			}
		}
		if l.counts(l.positives[i], n-1-l.positives[i]) {
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
	n := len(l.labels)
	for i := lo; i < hi; i++ {
		var t rowTerm
		cos, slope := l.c.Row(i)
		for j, c := range cos {
			if j != i {
				t.apart(l.labels[j] == l.labels[i], c)
			}
		}
		if l.counts(l.positives[i], n-1-l.positives[i]) {
			t.tuples, t.value = 1, l.row(i)
			for j, s := range slope {
				if s != 0 {
					t.active = 1
				}
				slope[j] = s * float32(l.scale)
			}
		}
		l.terms[i] = t
	}
}

// positive says whether row j is a positive of row i.
func (l *ownRows) positive(i, j int) bool { return j != i && l.labels[j] == l.labels[i] }

func both(positives, negatives int) bool  { return positives > 0 && negatives > 0 }
func found(positives, negatives int) bool { return positives > 0 }
