package theory

import (
	"fmt"
	"math"

	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
	"tercet/internal/stat"
)

// AmbiguousOptions say for which noise, loss and embedding the gradient of triplets is
// computed.
type AmbiguousOptions struct {
	Beta   float64 // probability that a positive is right
	Gamma  float64 // probability that a negative is right
	Margin float64 // alpha, of squared distances
	Scale  float64 // s of the embedding f(x) = s x
	Apart  float64 // distance of the two classes' means, in their standard deviations
	Draws  int     // triplets of each kind
	Seed   uint64
}

// maxAmbiguousDraws bounds the memory: a draw takes 96 bytes.
const maxAmbiguousDraws = 500_000

// NewAmbiguous draws the triplets. Errors wrap ErrInput.
func NewAmbiguous(o AmbiguousOptions) (*printed.Ambiguous, error) {
	for name, p := range map[string]float64{"beta": o.Beta, "gamma": o.Gamma} {
		if !(p >= 0 && p <= 1) {
			return nil, fmt.Errorf("%w: %s is %v, want a probability from 0 to 1", ErrInput, name, p)
		}
	}
	for name, v := range map[string]float64{"margin": o.Margin, "scale": o.Scale, "apart": o.Apart} {
		if !(v > 0 && v <= 1e6) {
			return nil, fmt.Errorf("%w: %s is %v, want a number above 0 and at most 1e6", ErrInput, name, v)
		}
	}
	if o.Draws < 2 || o.Draws > maxAmbiguousDraws {
		return nil, fmt.Errorf("%w: draws is %d, want 2 to 500,000", ErrInput, o.Draws)
	}
	out := &printed.Ambiguous{Beta: o.Beta, Gamma: o.Gamma, Margin: o.Margin, Scale: o.Scale, Apart: o.Apart, Draws: o.Draws}
	w := noise.Product(record.TripletWeights{Beta: o.Beta, Gamma: o.Gamma})
	var kept, dropped draws
	var each [2][2]draws
	var largest [2][2]float64
	for _, d := range []*draws{&kept, &dropped, &each[0][0], &each[0][1], &each[1][0], &each[1][1]} {
		d.loss, d.slope = make([]float64, 0, o.Draws), make([]float64, 0, o.Draws)
	}
	stream := rng.New(o.Seed, "theory/ambiguous")
	for range o.Draws {
		t := drawTriplet(stream, o.Apart)
		var loss, slope [2][2]float64
		for p := range 2 {
			for n := range 2 {
				d := float64(o.Scale * o.Scale * t.difference(p == 1, n == 1))
				largest[p][n] = max(largest[p][n], math.Abs(d))
				loss[p][n], slope[p][n] = hinge(d, o.Margin, o.Scale)
				each[p][n].add(loss[p][n], slope[p][n])
			}
		}
		right := float64(o.Scale * o.Scale * t.difference(true, true))
		back, backSlope := hinge(-right, o.Margin, o.Scale)
		kept.add(float64(w.W11*loss[1][1])+float64(w.W00*back), float64(w.W11*slope[1][1])+float64(w.W00*backSlope))
		dropped.add(float64(w.W01*loss[0][1])+float64(w.W10*loss[1][0]), float64(w.W01*slope[0][1])+float64(w.W10*slope[1][0]))
	}
	for _, k := range []struct {
		p, n int
		of   float64
	}{{1, 1, w.W11}, {0, 1, w.W01}, {1, 0, w.W10}, {0, 0, w.W00}} {
		out.Kinds = append(out.Kinds, printed.AmbiguousKind{Positive: k.p == 1, Negative: k.n == 1, Probability: k.of, AmbiguousPart: each[k.p][k.n].part(), Largest: largest[k.p][k.n]})
	}
	out.Kept, out.Dropped = kept.part(), dropped.part()
	return out, nil
}

// hinge is [margin + D]+ and its derivative in s, for D proportional to s^2.
func hinge(d, margin, s float64) (loss, slope float64) {
	if margin+d > 0 {
		return margin + d, 2 * d / s
	}
	return 0, 0
}

// drawn are an anchor and, as positive and as negative, a point of its class and one of the
// other.
type drawn struct {
	a           [2]float64
	own, others [2][2]float64 // positive, negative
}

func drawTriplet(s *rng.Stream, apart float64) drawn {
	point := func(mean float64) [2]float64 { return [2]float64{mean + s.NormFloat64(), s.NormFloat64()} }
	m := float64(apart / 2)
	return drawn{a: point(m), own: [2][2]float64{point(m), point(m)}, others: [2][2]float64{point(-m), point(-m)}}
}

// difference is |a-p|^2 - |a-n|^2, with a right or wrong positive and negative.
func (t *drawn) difference(positive, negative bool) float64 {
	p, n := t.own[0], t.others[1]
	if !positive {
		p = t.others[0]
	}
	if !negative {
		n = t.own[1]
	}
	return squared(t.a, p) - squared(t.a, n)
}

func squared(a, b [2]float64) float64 {
	return float64((a[0]-b[0])*(a[0]-b[0])) + float64((a[1]-b[1])*(a[1]-b[1]))
}

// draws are the losses and gradients of all draws.
type draws struct{ loss, slope []float64 }

func (d *draws) add(loss, slope float64) {
	d.loss, d.slope = append(d.loss, loss), append(d.slope, slope)
}

func (d *draws) part() printed.AmbiguousPart {
	return printed.AmbiguousPart{Loss: meanOf(d.loss), Gradient: meanOf(d.slope)}
}

func meanOf(values []float64) printed.Expected {
	mean, low, high := stat.MeanInterval(values)
	return printed.Expected{Value: mean, CI95: [2]float64{low, high}}
}
