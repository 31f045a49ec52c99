package loss

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Beta says how the boundary of a margin loss is learned.
type Beta string

const (
	// BetaClass has one for the class of each anchor.
	BetaClass Beta = "class"
	// BetaGlobal has one for all.
	BetaGlobal Beta = "global"
	// BetaFixed leaves it as it begins.
	BetaFixed Beta = "fixed"
)

func init() {
	Family.Register(component.Component[Options]{Name: "margin", Doc: "positives within, negatives beyond a learned boundary (Wu et al.)", Defaults: BetaMarginDefaults()})
}

// BetaMarginOptions are the keys of a BetaMarginLoss.
type BetaMarginOptions struct {
	Margin      float64        `yaml:"margin" check:">0,<=100" doc:"how far positives shall be within the boundary, and negatives beyond"`
	Beta        float64        `yaml:"beta" check:">0,<=100" doc:"the boundary at the start, a distance"`
	Learn       Beta           `yaml:"learn" enum:"class|global|fixed" doc:"a learned boundary for each class of an anchor, one for all, or none"`
	LRFactor    float64        `yaml:"lr_factor" check:">0,<=1e9" doc:"learning rate of the boundaries as a multiple of the network's"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay of the boundaries; auto has none, or optimizer.weight_decay with optimizer.decay_all"`
}

// BetaMarginDefaults returns margin 0.2 and boundaries of classes that begin at 1.2.
func BetaMarginDefaults() BetaMarginOptions {
	return BetaMarginOptions{Margin: 0.2, Beta: 1.2, Learn: BetaClass, LRFactor: 50}
}

// New implements Options.
func (o BetaMarginOptions) New() (Objective, error) { return NewBetaMargin(o) }

// Takes implements Options.
func (BetaMarginOptions) Takes() Kind { return Triplets }

// Rate implements Learned.
func (o BetaMarginOptions) Rate() (float64, component.Auto) { return o.LRFactor, o.WeightDecay }

// WithLabels implements WithLabels: boundaries of classes need them.
func (o BetaMarginOptions) WithLabels() (key, instead string, ok bool) {
	return "learn", string(BetaGlobal), o.Learn == BetaClass
}

// BetaMarginLoss is the margin loss, the sum over the pairs of the triplets (a, p, n) of
//
//	max(0, d(a,p) - beta + margin) and max(0, beta - d(a,n) + margin)
//
// divided by the number of them that are above 0; d is the Euclidean distance, beta one
// number or that of the class of a (Wu et al., "Sampling Matters in Deep Embedding Learning",
// ICCV 2017, eq. 5). It is 0 where no pair is above 0. It serves one goroutine at a time.
type BetaMarginLoss struct {
	o    BetaMarginOptions
	g    edges     // for few triplets
	t    Table     // for many
	beta *nn.Param // (classes) or (1)
}

// NewBetaMargin returns the loss, or an error naming the option that is wrong.
func NewBetaMargin(o BetaMarginOptions) (*BetaMarginLoss, error) {
	return Checked("margin", o, &BetaMarginLoss{o: o, g: newEdges(Euclidean, 1e-6), t: Table{distance: Euclidean, eps: 1e-6}})
}

// Begin implements Parametric.
func (l *BetaMarginLoss) Begin(_, classes int, _ *rng.Stream) (err error) {
	if l.o.Learn != BetaClass {
		classes = 1
	}
	// A boundary is pulled to 0 only by a weight decay that is meant for it.
	if l.beta, err = NewParam("beta", l.o.WeightDecay.Given, classes); err != nil {
		return err
	}
	for i := range l.beta.Value.Data {
		l.beta.Value.Data[i] = float32(l.o.Beta)
	}
	if l.o.Learn == BetaFixed {
		l.beta.Grad = nil
	}
	return nil
}

// Params implements Parametric.
func (l *BetaMarginLoss) Params() []*nn.Param { return []*nn.Param{l.beta} }

// Margin returns the margin.
func (l *BetaMarginLoss) Margin() float64 { return l.o.Margin }

// Eval implements Objective on t.Triplets and, for boundaries of classes, t.Labels. The
// tuples are pairs, two of each triplet.
func (l *BetaMarginLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	if err := l.check(z, t, grad); err != nil {
		return Result{}, err
	}
	many := len(t.Triplets) > 0 && crowded(2*len(t.Triplets), z.Shape[0])
	if err := l.measure(z, t.Triplets, many); err != nil {
		return Result{}, err
	}
	learns := grad != nil && l.beta.Grad != nil
	if learns {
		clear(l.beta.Grad.Data)
	}
	res := Result{Tuples: 2 * len(t.Triplets)}
	for k, x := range t.Triplets {
		at := 0
		if l.o.Learn == BetaClass {
			at = int(t.Labels[x.A])
		}
		beta := float64(l.beta.Value.Data[at])
		p, n := entry{}, entry{}
		if many {
			p, n = l.t.at(x.A, x.P), l.t.at(x.A, x.N)
		} else {
			p, n = l.g.at(2*k), l.g.at(2*k+1)
		}
		res.Positive += *p.dist
		res.Negative += *n.dist
		pull := 0.0
		if v := *p.dist - beta + l.o.Margin; v > 0 {
			res.Active++
			res.Loss += v
			*p.coef++
			pull++
		}
		if v := beta - *n.dist + l.o.Margin; v > 0 {
			res.Active++
			res.Loss += v
			*n.coef--
			pull--
		}
		if learns {
			l.beta.Grad.Data[at] -= float32(pull)
		}
	}
	scale := 1 / float64(max(res.Active, 1))
	res.Loss *= scale
	n := float64(max(len(t.Triplets), 1))
	res.Positive, res.Negative = res.Positive/n, res.Negative/n
	if learns {
		for i := range l.beta.Grad.Data {
			l.beta.Grad.Data[i] *= float32(scale)
		}
	}
	if !many {
		l.g.pullScaled(scale, z, grad)
	} else if grad != nil {
		l.t.Pull(scale, grad)
	}
	return res, nil
}

// measure fills the table of many triplets, or the list of the edges of few.
func (l *BetaMarginLoss) measure(z *array.Array, ts []Triplet, many bool) error {
	if many {
		return l.t.Measure(z)
	}
	g := &l.g
	g.pairs = g.pairs[:0]
	for _, t := range ts {
		g.pairs = append(g.pairs, edge{t.A, t.P}, edge{t.A, t.N})
	}
	err := g.measure(z)
	clear(g.coef)
	return err
}

// check refuses triplets outside the batch, and labels that do not fit.
func (l *BetaMarginLoss) check(z *array.Array, t *Tuples, grad *array.Array) error {
	if err := CheckShapes(z, grad); err != nil {
		return err
	}
	if err := checkTriplets(t.Triplets, z.Shape[0]); err != nil {
		return err
	}
	if l.o.Learn != BetaClass || len(t.Triplets) == 0 {
		return nil
	}
	if len(t.Labels) != z.Shape[0] {
		return fmt.Errorf("loss: %d labels for a batch of %d embeddings", len(t.Labels), z.Shape[0])
	}
	return CheckClasses(t.Labels, l.beta.Value.Shape[0])
}
