package loss

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
)

func init() {
	Family.Register(component.Component[Options]{Name: "quadruplet", Doc: "triplets, and positives closer than two images of two other classes (Chen et al.)", Defaults: QuadrupletDefaults()})
}

// QuadrupletOptions are the keys of a QuadrupletLoss.
type QuadrupletOptions struct {
	Margin       float64   `yaml:"margin" check:">=0,<=100" doc:"target gap to the anchor's negative"`
	Second       bool      `yaml:"second" doc:"whether positives are compared with pairs of two other classes, too; without it this is the triplet loss"`
	SecondMargin float64   `yaml:"second_margin" check:">=0,<=100" doc:"target gap to pairs of two other classes"`
	Distance     Distance  `yaml:"distance" enum:"euclidean|squared" doc:"Euclidean distance, or its square as in the paper"`
	Reduce       Reduction `yaml:"reducer" enum:"mean|sum|mean-nonzero" doc:"how triplets' losses become one number"`
}

// QuadrupletDefaults returns margins 1 and 0.5 on squared distances, as the paper.
func QuadrupletDefaults() QuadrupletOptions {
	return QuadrupletOptions{Margin: 1, Second: true, SecondMargin: 0.5, Distance: Squared, Reduce: Mean}
}

// New implements Options.
func (o QuadrupletOptions) New() (Objective, error) { return NewQuadruplet(o) }

// Takes implements Options.
func (QuadrupletOptions) Takes() Kind { return Triplets }

// Squared implements OnSquares.
func (o QuadrupletOptions) Squared() bool { return o.Distance == Squared }

// WithLabels implements WithLabels: pairs of other classes are found by them.
func (o QuadrupletOptions) WithLabels() (key, instead string, ok bool) {
	return "second", "false", o.Second
}

// QuadrupletLoss is the reduced sum over triplets (a, p, n) of
//
//	max(0, d(a,p) - d(a,n) + margin) + mean_l max(0, d(a,p) - d(n,l) + second_margin)
//
// l the rows of the batch of another class than a and n; the second term is 0 where there
// are none (Chen et al., "Beyond Triplet Loss: A Deep Quadruplet Network for Person
// Re-Identification", CVPR 2017, eq. 4 and 5, with the mean over all fourth images in place
// of one that is drawn). It serves one goroutine at a time.
type QuadrupletLoss struct {
	o QuadrupletOptions
	t Table
}

// NewQuadruplet returns the loss, or an error naming the option that is wrong.
func NewQuadruplet(o QuadrupletOptions) (*QuadrupletLoss, error) {
	return Checked("quadruplet", o, &QuadrupletLoss{o: o, t: NewTable(o.Distance)})
}

// Margin returns the margin of triplets.
func (l *QuadrupletLoss) Margin() float64 { return l.o.Margin }

// Eval implements Objective on t.Triplets and t.Labels.
func (l *QuadrupletLoss) Eval(z *array.Array, t *Tuples, grad *array.Array) (Result, error) {
	if err := l.check(z, t, grad); err != nil {
		return Result{}, err
	}
	if err := l.t.Measure(z); err != nil {
		return Result{}, err
	}
	res := Result{Tuples: len(t.Triplets)}
	for _, x := range t.Triplets {
		ap, an := l.t.at(x.A, x.P), l.t.at(x.A, x.N)
		res.Positive += *ap.dist
		res.Negative += *an.dist
		value := 0.0
		if h := l.o.Margin + *ap.dist - *an.dist; h > 0 {
			value = h
			*ap.coef++
			*an.coef--
		}
		if l.o.Second {
			value += l.second(x, ap, t.Labels)
		}
		if value > 0 {
			res.Active++
			res.Loss += value
		}
	}
	if scale := l.o.Reduce.finish(&res); grad != nil {
		l.t.Pull(scale, grad)
	}
	return res, nil
}

// second returns the mean over the fourth images of a triplet.
func (l *QuadrupletLoss) second(x Triplet, ap entry, labels []int32) float64 {
	others := 0
	for _, y := range labels {
		if y != labels[x.A] && y != labels[x.N] {
			others++
		}
	}
	value, mean := 0.0, 1/float64(max(others, 1))
	for k, y := range labels {
		if y == labels[x.A] || y == labels[x.N] {
			continue
		}
		apart := l.t.at(x.N, int32(k))
		if h := l.o.SecondMargin + *ap.dist - *apart.dist; h > 0 {
			value += float64(mean * h)
			*ap.coef += mean
			*apart.coef -= mean
		}
	}
	return value
}

// check refuses triplets outside the batch, and labels that do not fit.
func (l *QuadrupletLoss) check(z *array.Array, t *Tuples, grad *array.Array) error {
	if err := CheckShapes(z, grad); err != nil {
		return err
	}
	if err := checkTriplets(t.Triplets, z.Shape[0]); err != nil {
		return err
	}
	if l.o.Second && len(t.Triplets) > 0 && len(t.Labels) != z.Shape[0] {
		return fmt.Errorf("loss: %d labels for a batch of %d embeddings", len(t.Labels), z.Shape[0])
	}
	return nil
}
