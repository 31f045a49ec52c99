package labeled

import (
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "angular", Doc: "the angle at the negative of each triplet of a batch (Wang et al.)", Defaults: AngularDefaults()})
}

// AngularOptions are the keys of an AngularLoss.
type AngularOptions struct {
	Alpha float64 `yaml:"alpha" check:">0,<=89" doc:"largest angle at the negative, in degrees"`
}

// AngularDefaults returns 40 degrees.
func AngularDefaults() AngularOptions { return AngularOptions{Alpha: 40} }

// New implements Options.
func (o AngularOptions) New() (loss.Objective, error) {
	tan := math.Tan(o.Alpha * math.Pi / 180)
	return loss.Checked[loss.Objective]("angular", o, &AngularLoss{t: tan * tan})
}

// Takes implements Options.
func (AngularOptions) Takes() loss.Kind { return loss.Labels }

// AngularLoss is the angular loss, the mean over pairs (a, p) of a class of
//
//	log(1 + sum_n exp( 4 t (s_an + s_pn) - 2 (1 + t) s_ap )),  t = tan^2 alpha
//
// n the rows of other classes, s the cosine: all three embeddings have length 1 (Wang et al.,
// "Deep Metric Learning with Angular Loss", ICCV 2017, eq. 8). It serves one goroutine at a
// time.
type AngularLoss struct {
	t      float64
	c      loss.OwnCosines
	exps   []float32 // of a pair's negatives
	labels []int32
}

// Margin returns 0: the loss has none.
func (l *AngularLoss) Margin() float64 { return 0 }

// Eval implements Objective on t.Labels. The tuples are pairs of a class. Positive and
// Negative of the result are means of 1 - s.
func (l *AngularLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.c.Load(z)
	var all rowTerm
	for a := range n {
		cos, _ := l.c.Row(a)
		for p, c := range cos[:a] {
			all.apart(l.labels[p] == l.labels[a], c)
			if l.labels[p] == l.labels[a] {
				all.tuples++
			}
		}
	}
	scale := 1 / float64(max(all.tuples, 1))
	for a := range n {
		for p := range a {
			if l.labels[p] != l.labels[a] {
				continue
			}
			if v := l.pair(a, p, scale); v > 0 {
				all.active++
				all.value += float64(v * scale)
			}
		}
	}
	if grad != nil {
		l.c.Fold()
		l.c.Turns(1, grad)
	}
	return addTerms([]rowTerm{all}), nil
}

// pair returns the term of a and p, and adds its slopes times scale.
func (l *AngularLoss) pair(a, p int, scale float64) float64 {
	ofA, slopeA := l.c.Row(a)
	ofP, slopeP := l.c.Row(p)
	near := float64(-2 * (1 + l.t) * float64(ofA[p]))
	exponent := func(n int) float64 { return float64(4*l.t*(float64(ofA[n])+float64(ofP[n]))) + near }
	top := math.Inf(-1)
	for n, y := range l.labels {
		if y != l.labels[a] {
			top = max(top, exponent(n))
		}
	}
	l.exps = loss.Grow(l.exps, len(l.labels))
	for n, y := range l.labels {
		l.exps[n] = vanishing
		if y != l.labels[a] {
			l.exps[n] = float32(exponent(n) - top)
		}
	}
	kernel.Exp(l.exps, l.exps)
	sum := kernel.Sum(l.exps)
	x := top + math.Log(sum)
	weight := scale * loss.Logistic(x)
	if weight == 0 {
		return loss.Softplus(x)
	}
	g := float32(4 * l.t * weight / sum)
	kernel.Axpy(g, l.exps, slopeA)
	kernel.Axpy(g, l.exps, slopeP)
	slopeA[p] -= float32(2 * (1 + l.t) * weight)
	return loss.Softplus(x)
}
