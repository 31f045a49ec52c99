package theory

import (
	"fmt"
	"math"

	"tercet/internal/noise"
	"tercet/internal/record"
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

// Ambiguous holds the claim of the noise-robust appendix that triplets with one wrong label
// have an expected gradient of zero against drawn triplets. Classes are N(+-Apart/2 e1, I) in
// the plane, the embedding is f(x) = s x, and gradients are those in s: above 0 they shrink
// the embedding.
type Ambiguous struct {
	Beta    float64         `json:"beta"`
	Gamma   float64         `json:"gamma"`
	Margin  float64         `json:"margin"`
	Scale   float64         `json:"scale"`
	Apart   float64         `json:"apart"`
	Draws   int             `json:"draws"`
	Kinds   []AmbiguousKind `json:"kinds"`
	Kept    AmbiguousPart   `json:"kept"`    // by equations 3 and 4
	Dropped AmbiguousPart   `json:"dropped"` // the ambiguous part of equation 2
}

// AmbiguousKind is one of the four kinds of triplets of equation 1.
type AmbiguousKind struct {
	Positive    bool    `json:"positive_right"`
	Negative    bool    `json:"negative_right"`
	Probability float64 `json:"probability"`
	AmbiguousPart
	Largest float64 `json:"largest"` // of |D|; at most the margin: the gradient of ambiguous triplets is 0
}

// AmbiguousPart is the expected loss of some triplets, and its gradient in s.
type AmbiguousPart struct {
	Loss     Expected `json:"loss"`
	Gradient Expected `json:"gradient"`
}

// Expected is a mean of draws with its 95 % interval.
type Expected struct {
	Value float64    `json:"value"`
	CI95  [2]float64 `json:"ci95"`
}

// NewAmbiguous draws the triplets. Errors wrap ErrInput.
func NewAmbiguous(o AmbiguousOptions) (*Ambiguous, error) {
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
	if o.Draws < 2 || o.Draws > 1_000_000 {
		return nil, fmt.Errorf("%w: draws is %d, want 2 to 1,000,000", ErrInput, o.Draws)
	}
	out := &Ambiguous{Beta: o.Beta, Gamma: o.Gamma, Margin: o.Margin, Scale: o.Scale, Apart: o.Apart, Draws: o.Draws}
	w := noise.Product(record.TripletWeights{Beta: o.Beta, Gamma: o.Gamma})
	var kept, dropped draws
	var each [2][2]draws
	var largest [2][2]float64
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
		out.Kinds = append(out.Kinds, AmbiguousKind{k.p == 1, k.n == 1, k.of, each[k.p][k.n].part(), largest[k.p][k.n]})
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

func (d *draws) part() AmbiguousPart { return AmbiguousPart{meanOf(d.loss), meanOf(d.slope)} }

func meanOf(values []float64) Expected {
	mean, low, high := stat.MeanInterval(values)
	return Expected{mean, [2]float64{low, high}}
}
