package labeled

import (
	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "n-pairs", Doc: "a pair of each class against the pairs of the others, by inner products (Sohn)", Defaults: NPairsDefaults()})
}

// NPairsOptions are the keys of an NPairsLoss.
type NPairsOptions struct {
	L2 float64 `yaml:"l2" check:">=0,<=1000" doc:"weight of a quarter of the mean squared lengths of anchors and positives"`
}

// NPairsDefaults returns l2 0.02.
func NPairsDefaults() NPairsOptions { return NPairsOptions{L2: 0.02} }

// New implements Options.
func (o NPairsOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("n-pairs", o, &NPairsLoss{o: o})
}

// Takes implements Options.
func (NPairsOptions) Takes() loss.Kind { return loss.Labels }

// Ordered implements Ordered: the pair of a class is its first two rows.
func (NPairsOptions) Ordered() {}

// NPairsLoss is the multi-class N-pair loss, the mean over classes i with two rows of
//
//	log(1 + sum_j exp(a_i.p_j - a_i.p_i)) + l2/4 (|a_i|^2 + |p_i|^2)
//
// a_i and p_i the first two rows of the class, j the other classes (Sohn, "Improved Deep
// Metric Learning with Multi-class N-pair Loss Objective", NIPS 2016, eq. 7 and section
// 3.2.2). Embeddings are taken at their length. It serves one goroutine at a time.
type NPairsLoss struct {
	o       NPairsOptions
	anchors []int
	partner []int
	first   map[int32]int // place of a class in anchors
	slope   []float64     // (classes, classes) of a_i.p_j
	squares []float64     // |a_i|^2 + |p_i|^2
	q       pairProducts
}

// Margin returns 0: the loss has none.
func (l *NPairsLoss) Margin() float64 { return 0 }

// choose sets the first two rows of each class, in the order of the first.
func (l *NPairsLoss) choose(labels []int32) {
	l.anchors, l.partner = l.anchors[:0], l.partner[:0]
	if l.first == nil {
		l.first = map[int32]int{}
	}
	clear(l.first)
	for i, y := range labels {
		k, there := l.first[y]
		switch {
		case !there:
			l.first[y] = len(l.anchors)
			l.anchors, l.partner = append(l.anchors, i), append(l.partner, -1)
		case l.partner[k] < 0:
			l.partner[k] = i
		}
	}
	n := 0
	for k, p := range l.partner {
		if p >= 0 {
			l.anchors[n], l.partner[n] = l.anchors[k], p
			n++
		}
	}
	l.anchors, l.partner = l.anchors[:n], l.partner[:n]
}

// Eval implements Objective on t.Labels. The tuples are classes with two rows. Positive and
// Negative of the result are means of minus the inner products.
func (l *NPairsLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.choose(t.Labels)
	m := len(l.anchors)
	l.squares = loss.Grow(l.squares, m)
	longest := 0.0
	for i, a := range l.anchors {
		own, partner := z.Row(a), z.Row(l.partner[i])
		x, y := kernel.Dot(own, own), kernel.Dot(partner, partner)
		l.squares[i], longest = x+y, max(longest, x, y)
	}
	if m >= manyPairs && longest <= longSquare {
		return l.multiplied(z, grad, l.squares), nil
	}
	l.slope = loss.Grow(l.slope, m*m)
	var all rowTerm
	mean := 1 / float64(max(m, 1))
	for i, a := range l.anchors {
		row := l.slope[i*m:][:m]
		for j, p := range l.partner {
			row[j] = kernel.Dot(z.Row(a), z.Row(p))
			if j == i {
				all.positives, all.positive = all.positives+1, all.positive-row[j]
			} else {
				all.others, all.negative = all.others+1, all.negative-row[j]
			}
		}
		v := l.classify(row, i)
		all.tuples++
		if v > 0 {
			all.active++
		}
		all.value += float64(mean * (v + float64(l.o.L2/4*l.squares[i])))
	}
	if grad != nil {
		l.pull(z, grad, mean)
	}
	return addTerms([]rowTerm{all}), nil
}

// classify turns the products of anchor i into their slopes, and returns its term.
func (l *NPairsLoss) classify(row []float64, i int) float64 {
	var sum logSum
	for j, s := range row {
		if j != i {
			sum.add(s - row[i])
		}
	}
	x, own := sum.log(), row[i]
	weight := loss.Logistic(x)
	for j, s := range row {
		if j != i {
			row[j] = weight * sum.share(s-own)
		}
	}
	row[i] = -weight
	return loss.Softplus(x)
}

// pull overwrites the gradient.
func (l *NPairsLoss) pull(z, grad *array.Array, mean float64) {
	m, d := len(l.anchors), z.Shape[1]
	clear(grad.Data)
	var acc [loss.Block]float64
	for i := range m {
		for from := 0; from < d; from += loss.Block {
			to := min(from+loss.Block, d)
			sum := acc[:to-from]
			clear(sum)
			for j, p := range l.partner {
				kernel.AddScaled(mean*l.slope[i*m+j], z.Row(p)[from:to], sum)
			}
			kernel.AddScaled(mean*l.o.L2/2, z.Row(l.anchors[i])[from:to], sum)
			loss.Narrow(sum, grad.Row(l.anchors[i])[from:to])
			clear(sum)
			for j, a := range l.anchors {
				kernel.AddScaled(mean*l.slope[j*m+i], z.Row(a)[from:to], sum)
			}
			kernel.AddScaled(mean*l.o.L2/2, z.Row(l.partner[i])[from:to], sum)
			loss.Narrow(sum, grad.Row(l.partner[i])[from:to])
		}
	}
}
