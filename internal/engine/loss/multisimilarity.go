package loss

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
)

func init() {
	Family.Register(component.Component[Options]{Name: "multi-similarity", Doc: "all pairs of a batch, weighted by their similarities (Wang et al.)", Defaults: MultiSimilarityDefaults()})
}

// MultiSimilarityOptions are the keys of a MultiSimilarityLoss.
type MultiSimilarityOptions struct {
	Alpha   float64   `yaml:"alpha" check:">0,<=1000" doc:"how sharply positives below base are weighted"`
	Beta    float64   `yaml:"beta" check:">0,<=1000" doc:"how sharply negatives above base are weighted"`
	Base    float64   `yaml:"base" check:">=-1,<=1" doc:"lambda, the cosine that positives are pulled above and negatives pushed below"`
	Epsilon float64   `yaml:"epsilon" check:">=0,<=2.5" doc:"a pair counts if its cosine is less than epsilon from the wrong side of its anchor's hardest pair of the other kind; above 2 all pairs count"`
	Reduce  Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how the losses of anchors become one number; mean divides by the images of the batch"`
	Variant Variant   `yaml:"variant" enum:"paper|published" omit:"paper" doc:"published leaves out positives with a cosine of 1 - 1e-5 or more, as the authors' code does; its beta is 40"`
}

// Variant says whether a loss is computed as its paper prints it, or as the code that the
// authors published does.
type Variant string

const (
	Paper     Variant = "paper"
	Published Variant = "published"
)

// duplicate is the cosine from which on the authors' code takes a positive for the row itself.
const duplicate = 1 - 1e-5

// MultiSimilarityDefaults returns alpha 2, beta 50, base 0.5, epsilon 0.1, mean.
func MultiSimilarityDefaults() MultiSimilarityOptions {
	return MultiSimilarityOptions{Alpha: 2, Beta: 50, Base: 0.5, Epsilon: 0.1, Reduce: Mean, Variant: Paper}
}

// New implements Options.
func (o MultiSimilarityOptions) New() (Objective, error) { return NewMultiSimilarity(o) }

// Takes implements Options.
func (MultiSimilarityOptions) Takes() Kind { return AllPairs }

// MultiSimilarityLoss is the multi-similarity loss: the reduced sum over rows i of
//
//	1/alpha log(1 + sum_P exp(-alpha (s_ij - base))) + 1/beta log(1 + sum_N exp(beta (s_ij - base)))
//
// s_ij the cosine of rows i and j, P and N the positives and negatives of i that its
// mining keeps: positives with s_ij - epsilon below the largest cosine of a negative,
// negatives with s_ij + epsilon above the smallest cosine of a positive (Wang et al.,
// "Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning", CVPR
// 2019). It is pytorch-metric-learning's MultiSimilarityLoss with
// MultiSimilarityMiner. A row without a positive or without a negative has no loss. It
// serves one goroutine at a time.
type MultiSimilarityLoss struct {
	o MultiSimilarityOptions
	g angles
	// Of each row: the smallest cosine of a positive and the largest of a negative, and
	// the two sums, scaled by exp(-top) to stay finite.
	easiest, hardest   []float64
	positive, negative softSums

	t pairTable
}

// NewMultiSimilarity returns the loss, or an error naming the option that is wrong.
func NewMultiSimilarity(o MultiSimilarityOptions) (*MultiSimilarityLoss, error) {
	return Checked("multi-similarity", o, &MultiSimilarityLoss{o: o})
}

// Margin returns 0: the loss has none.
func (l *MultiSimilarityLoss) Margin() float64 { return 0 }

// Eval implements Objective on t.Pairs, each pair of rows once. A pair is active where
// one of its rows keeps it and its gradient is not zero. Positive and Negative of the
// result are means of 1 - s.
func (l *MultiSimilarityLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	if err := CheckShapes(z, grad); err != nil {
		return Result{}, err
	}
	if rows := z.Shape[0]; rows >= manyRows && crowded(2*len(t.Pairs), rows) && l.t.list(t.Pairs, rows) {
		return l.tabled(z, grad)
	}
	return l.listed(z, t.Pairs, grad)
}

// listed evaluates any list of pairs.
func (l *MultiSimilarityLoss) listed(z *array.Array, pairs []Pair, grad *array.Array) (Result, error) {
	g := &l.g
	if err := g.load(z, pairs, grad); err != nil {
		return Result{}, err
	}
	rows := z.Shape[0]
	l.look(pairs, rows)
	l.positive.reset(rows)
	l.negative.reset(rows)
	for e, p := range pairs {
		for _, i := range [2]int32{p.I, p.J} {
			if l.keeps(i, p, g.cos[e]) {
				l.sums(p).top(i, l.exponent(p, g.cos[e]))
			}
		}
	}
	for e, p := range pairs {
		for _, i := range [2]int32{p.I, p.J} {
			if l.keeps(i, p, g.cos[e]) {
				l.sums(p).add(i, l.exponent(p, g.cos[e]))
			}
		}
	}
	value, costly := 0.0, 0
	for i := range rows {
		v := l.positive.log(i)/l.o.Alpha + l.negative.log(i)/l.o.Beta
		if v > 0 {
			costly++
		}
		value += v
	}
	scale := l.o.Reduce.scale(rows, costly)
	res := l.slopes(pairs, scale)
	res.Loss = value * scale
	if grad != nil {
		g.pull(grad)
	}
	return res, nil
}

// look finds the easiest positive and the hardest negative of each row.
func (l *MultiSimilarityLoss) look(pairs []Pair, rows int) {
	l.easiest, l.hardest = Grow(l.easiest, rows), Grow(l.hardest, rows)
	for i := range rows {
		l.easiest[i], l.hardest[i] = math.Inf(1), math.Inf(-1)
	}
	for e, p := range pairs {
		for _, i := range [2]int32{p.I, p.J} {
			if c := l.g.cos[e]; p.Similar && l.drops(c) {
				continue
			} else if p.Similar {
				l.easiest[i] = min(l.easiest[i], c)
			} else {
				l.hardest[i] = max(l.hardest[i], c)
			}
		}
	}
}

// keeps says whether row i counts the pair p of cosine c.
func (l *MultiSimilarityLoss) keeps(i int32, p Pair, c float64) bool {
	if p.Similar {
		return c-l.o.Epsilon < l.hardest[i] && !l.drops(c)
	}
	return c+l.o.Epsilon > l.easiest[i]
}

// drops says whether a positive of cosine c is left out.
func (l *MultiSimilarityLoss) drops(c float64) bool {
	return l.o.Variant == Published && c >= duplicate
}

// sums are those of the pair's kind.
func (l *MultiSimilarityLoss) sums(p Pair) *softSums {
	if p.Similar {
		return &l.positive
	}
	return &l.negative
}

func (l *MultiSimilarityLoss) exponent(p Pair, c float64) float64 {
	if p.Similar {
		return -l.o.Alpha * (c - l.o.Base)
	}
	return l.o.Beta * (c - l.o.Base)
}

// slopes writes the gradient with respect to the cosines, and returns what the result
// says of pairs.
func (l *MultiSimilarityLoss) slopes(pairs []Pair, scale float64) Result {
	g := &l.g
	var sums pairSums
	for e, p := range pairs {
		slope, sign := 0.0, 1.0
		if p.Similar {
			sign = -1
		}
		for _, i := range [2]int32{p.I, p.J} {
			if l.keeps(i, p, g.cos[e]) {
				slope += float64(sign * l.sums(p).weight(i, l.exponent(p, g.cos[e])))
			}
		}
		g.coef[e] = slope * scale
		sums.add(p, pairTerm{distance: 1 - g.cos[e], active: slope != 0 && g.turns(p, g.cos[e])})
	}
	res, _ := sums.finish(Mean)
	return res
}

// softSums are sums 1 + sum exp(x) of rows, each scaled by the exponential of its
// largest exponent.
type softSums struct{ largest, sum []float64 }

func (s *softSums) reset(rows int) {
	s.largest, s.sum = Grow(s.largest, rows), Grow(s.sum, rows)
	clear(s.largest) // the exponent of 1
	clear(s.sum)
}

func (s *softSums) top(i int32, x float64) { s.largest[i] = max(s.largest[i], x) }
func (s *softSums) add(i int32, x float64) { s.sum[i] += math.Exp(x - s.largest[i]) }

// log is log(1 + sum exp(x)) of row i, which is 0 where nothing was added.
func (s *softSums) log(i int) float64 {
	if m := s.largest[i]; m > 0 {
		return m + math.Log(math.Exp(-m)+s.sum[i])
	}
	return math.Log1p(s.sum[i])
}

// weight is the derivative of log with respect to an exponent x of row i.
func (s *softSums) weight(i int32, x float64) float64 {
	return math.Exp(x-s.largest[i]) / (math.Exp(-s.largest[i]) + s.sum[i])
}
