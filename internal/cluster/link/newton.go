package link

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/par"
)

// regression is the weighted logistic regression of a kind, similar or other, on one
// number: z = (u - middle)/width.
type regression struct {
	kinds  [2][]float64  // u of similar and of other pairs
	weight [2]float64    // of each pair
	middle float64       // mean of u
	width  float64       // its standard deviation
	job    [2]regressing // loops over each kind
}

// moments are the log likelihood, its gradient and minus its second derivatives.
type moments struct{ value, g0, g1, h00, h01, h11 float64 }

// regressing sums over the pairs of a kind at a point (a, b).
type regressing struct {
	r    *regression
	kind int
	a, b float64
	sums []moments
}

const regressionChunk = 4096

// newton finds the line of greatest likelihood. The pairs overlap, so that it exists
// and is unique (Albert and Anderson 1984).
func (f *Fitted) newton(ctx context.Context, near, far []float64, similar, other float64) error {
	r := newRegression(near, far, similar, other)
	a, b := 0.0, 0.0
	at := r.at(a, b)
	for step := 1; ; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		det := float64(at.h00*at.h11) - float64(at.h01*at.h01)
		if !(det > 0) || step > 200 {
			return fmt.Errorf("%w: the regression on distances found no end after %d steps: too few pairs on one side of the threshold?", ErrInput, step)
		}
		da := (float64(at.h11*at.g0) - float64(at.h01*at.g1)) / det
		db := (float64(at.h00*at.g1) - float64(at.h01*at.g0)) / det
		// Far from the maximum a full step may fall: halve it.
		size, next := 1.0, moments{}
		for ; ; size /= 2 {
			next = r.at(a+float64(size*da), b+float64(size*db))
			if next.value >= at.value-float64(1e-13*math.Abs(at.value)) || size < 1e-9 {
				break
			}
		}
		f.Iterations = step
		a, b, at = a+float64(size*da), b+float64(size*db), next
		if size < 1e-9 || math.Abs(da)+math.Abs(db) < 1e-10*(1+math.Abs(a)+math.Abs(b)) {
			break
		}
	}
	f.Slope = b / r.width
	f.Intercept = a - float64(f.Slope*r.middle)
	if !(f.Slope < 0) {
		return f.reversed()
	}
	return nil
}

func (f *Fitted) reversed() error {
	return fmt.Errorf("%w: pairs of one label are no nearer than others (AUC %.3f): these distances carry no information about the labels", ErrInput, f.AUC)
}

func newRegression(near, far []float64, similar, other float64) *regression {
	r := &regression{kinds: [2][]float64{near, far}, weight: [2]float64{similar, other}}
	for k, u := range r.kinds {
		for _, v := range u {
			r.middle += float64(r.weight[k] * v)
		}
	}
	for k, u := range r.kinds {
		for _, v := range u {
			r.width += float64(r.weight[k] * (v - r.middle) * (v - r.middle))
		}
	}
	r.width = math.Sqrt(r.width)
	for k, u := range r.kinds {
		chunks := (len(u) + regressionChunk - 1) / regressionChunk
		r.job[k] = regressing{r: r, kind: k, sums: make([]moments, chunks)}
	}
	return r
}

// at returns value and derivatives at logit P(join) = a + b z.
func (r *regression) at(a, b float64) moments {
	var sum moments
	for k := range r.job {
		j := &r.job[k]
		j.a, j.b = a, b
		par.Do(len(r.kinds[k]), regressionChunk, j)
		for _, m := range j.sums {
			w := r.weight[k]
			sum.value += float64(w * m.value)
			sum.g0 += float64(w * m.g0)
			sum.g1 += float64(w * m.g1)
			sum.h00 += float64(w * m.h00)
			sum.h01 += float64(w * m.h01)
			sum.h11 += float64(w * m.h11)
		}
	}
	return sum
}

// Run does pairs [lo, hi), a whole chunk.
func (j *regressing) Run(lo, hi int) {
	var m moments
	sign := 1.0 // log P(own kind) = -log(1 + exp(-sign*logit))
	if j.kind == 1 {
		sign = -1
	}
	for _, u := range j.r.kinds[j.kind][lo:hi] {
		z := (u - j.r.middle) / j.r.width
		t := sign * (j.a + float64(j.b*z))
		e := math.Exp(-math.Abs(t))
		m.value -= math.Log1p(e) + max(-t, 0)
		wrong := e / (1 + e) // P(the other kind)
		if t < 0 {
			wrong = 1 / (1 + e)
		}
		m.g0 += float64(sign * wrong)
		m.g1 += float64(sign * wrong * z)
		h := e / ((1 + e) * (1 + e))
		m.h00 += h
		m.h01 += float64(h * z)
		m.h11 += float64(h * z * z)
	}
	j.sums[lo/regressionChunk] = m
}
