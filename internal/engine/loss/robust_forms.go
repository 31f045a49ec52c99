package loss

import "math"

// RobustForm names the function of D = d(a,p) - d(a,n) that a triplet costs. Below,
// (x)_+ is max(0, x).
type RobustForm string

const (
	// RobustExpected is w1 (alpha+D)_+ + w2 (alpha-D)_+: the paper's eq. 3, and its
	// eq. 4, which is the same function. Slopes are -w2, w1-w2 and w1, the minimum
	// 2 alpha w2 lies at D = -alpha. It is the plain loss expected on triplets that
	// are exchanged with probability w2 after they were drawn right; on triplets as
	// noise leaves them it works as a soft label.
	RobustExpected RobustForm = "expected"
	// RobustBackward is (w1 (alpha+D)_+ - w2 (alpha-D)_+) / (w1^2 - w2^2): its
	// expectation under noise is the plain loss's on clean triplets plus what the
	// ambiguous ones add, (1-w1-w2)/(w1+w2) of the plain loss on them. It has no
	// lower bound: embeddings must be of bounded length.
	RobustBackward RobustForm = "backward"
	// RobustOdd is (alpha+D)_+ - (alpha-D)_+: its expectation under noise is w1-w2
	// times that on clean triplets, whatever the embedding. It has no lower bound:
	// embeddings must be of bounded length.
	RobustOdd RobustForm = "odd"
	// RobustSigmoid is 1/(1 + exp(-D/temperature)): its expectation under noise is
	// w1-w2 times that on clean triplets plus the constant (1-w1+w2)/2.
	RobustSigmoid RobustForm = "sigmoid"
)

// term returns the form with checked options.
func (f RobustForm) term(o RobustOptions) termRun {
	scale := 1.0
	if o.Rescale {
		scale = o.W1 - o.W2
	}
	switch f {
	case RobustSigmoid:
		return &sigmoid{height: 1 / scale, width: o.Temperature}
	case RobustOdd:
		return &hinges{o.Margin, 1 / scale, -1 / scale}
	case RobustBackward:
		scale = (o.W1 - o.W2) * (o.W1 + o.W2)
		return &hinges{o.Margin, o.W1 / scale, -o.W2 / scale}
	}
	return &hinges{o.Margin, o.W1 / scale, o.W2 / scale}
}

// hinges is right (alpha+D)_+ + reversed (alpha-D)_+; at a kink the slope of the
// hinge that bends there is 0.
type hinges struct{ margin, right, reversed float64 }

// run implements termRun.
func (f *hinges) run(ts []Triplet, dist, coef []float64) Result {
	w := *f
	var res Result
	for _, t := range ts {
		ap, an := dist[t.P], dist[t.N]
		res.Positive += ap
		res.Negative += an
		var value, slope float64
		if h := w.margin + ap - an; h > 0 {
			value, slope = w.right*h, w.right
		}
		if h := w.margin + an - ap; h > 0 {
			value += float64(w.reversed * h)
			slope -= w.reversed
		}
		if slope != 0 {
			res.Active++
		}
		res.Loss += value
		coef[t.P] += slope
		coef[t.N] -= slope
	}
	return res
}

// sigmoid is height / (1 + exp(-D/width)).
type sigmoid struct{ height, width float64 }

// run implements termRun.
func (f *sigmoid) run(ts []Triplet, dist, coef []float64) Result {
	var res Result
	for _, t := range ts {
		ap, an := dist[t.P], dist[t.N]
		res.Positive += ap
		res.Negative += an
		d := (ap - an) / f.width
		e := math.Exp(-math.Abs(d)) // does not overflow
		value, slope := f.height/(1+e), float64(f.height/f.width*(e/(1+e)/(1+e)))
		if d < 0 {
			value = float64(value * e)
		}
		if slope != 0 {
			res.Active++
		}
		res.Loss += value
		coef[t.P] += slope
		coef[t.N] -= slope
	}
	return res
}
