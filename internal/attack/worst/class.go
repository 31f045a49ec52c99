package worst

import "tercet/internal/engine/adversary"

// apgdClasses aims at one label after another, those with the nearest cells first.
func (r *runner) apgdClasses(b *batch) error {
	aims, most := r.aims(b, 1)
	for k := range min(most, targets) {
		l := &classLoss{}
		for _, a := range aims {
			l.labels = append(l.labels, r.field.label(a[min(k, len(a)-1)]))
		}
		if err := r.apgd(b, l, adversary.FromRandom, k); err != nil {
			return err
		}
	}
	return nil
}

// classLoss is marginLoss with a fixed label for each query, of which the wrong row is.
type classLoss struct{ labels []int32 }

func (classLoss) searched() int { return searchedRows }
func (l *classLoss) of(rows []int) loss {
	out := &classLoss{}
	for _, i := range rows {
		out.labels = append(out.labels, l.labels[i])
	}
	return out
}
func (l *classLoss) retain(rows []int) { l.labels = retained(l.labels, rows) }
func (l *classLoss) at(f field, i int, z, grad []float32) float64 {
	right := f.right(i)[0]
	wrong, found := f.labeled(i, z, l.labels[i])
	if !found {
		wrong = f.wrong(i)[0]
	}
	if grad != nil {
		between(f.vector(i, right.Row), f.vector(i, wrong.Row), grad)
	}
	return (wrong.Square - right.Square) / 2
}
