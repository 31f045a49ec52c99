package tsne

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/par"
)

// forces are those of all pairs: sparse by Barnes and Hut, or dense and exact.
type forces interface {
	// at sets, for each row, attract to the sum over j of p_ij w_ij (y_i - y_j) and
	// repel to that of w_ij^2 (y_i - y_j), with w_ij = (1+||y_i-y_j||^2)^-1, and
	// returns the sum Z of w_ij over ordered pairs.
	at(y []point) (attract, repel []point, z float64)
	// divergence returns KL(P||Q) at y, where Z is z.
	divergence(y []point, z float64) float64
}

// How a descent is checked, and when it ends before its last iteration.
const (
	checkEvery = 50
	patience   = 300  // iterations without a smaller KL
	flat       = 1e-7 // norm of the gradient
	// Z over n, below which all points have flown apart and Z has few digits left.
	scattered = 1e-10
)

// descent is gradient descent with momentum and gains (Jacobs 1988) on y.
type descent struct {
	n       int
	rate    float64
	y, step []point
	gain    []point
	// Of the running iteration.
	attract, repel []point
	exaggeration   float64
	momentum, z    float64
	sums           []moved // of chunks of rows
}

// moved is what a chunk of rows adds up.
type moved struct {
	x, y     float64 // places
	gradient float64 // squared norm
}

const descentRows = 512

func newDescent(y []point, rate float64) *descent {
	n := len(y)
	d := &descent{n: n, rate: rate, y: y, step: make([]point, n), gain: make([]point, n), sums: make([]moved, (n+descentRows-1)/descentRows)}
	d.restart()
	return d
}

// restart forgets momentum and gains.
func (d *descent) restart() {
	clear(d.step)
	for i := range d.gain {
		d.gain[i] = point{1, 1}
	}
}

// ended says where a descent stopped.
type ended struct {
	iterations   int
	gradient, kl float64
}

// run goes o.Iterations steps, the first with exaggeration and momentum 0.5, the others
// without and 0.8. It ends early where KL has not fallen in 300 iterations or the
// gradient's norm is below 1e-7, each checked every 50.
func (d *descent) run(ctx context.Context, f forces, o *Options) (*ended, error) {
	e := &ended{}
	best, bestAt := math.Inf(1), 0
	for it := 1; it <= o.Iterations; it++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the map stopped at iteration %d: %w", it, err)
		}
		d.exaggeration, d.momentum = 1, .8
		early := it <= o.ExaggerationIterations
		if early {
			d.exaggeration, d.momentum = o.Exaggeration, .5
		} else if it == o.ExaggerationIterations+1 {
			d.restart()
			best, bestAt = math.Inf(1), it
		}
		d.attract, d.repel, d.z = f.at(d.y)
		check := it%checkEvery == 0
		if check || it == o.Iterations {
			e.kl = f.divergence(d.y, d.z)
		}
		e.gradient = math.Sqrt(d.advance())
		e.iterations = it
		if e.gradient-e.gradient != 0 || !(d.z > scattered*float64(d.n)) {
			return nil, fmt.Errorf("%w: the map diverged at iteration %d: choose a learning rate below %.4g", ErrInput, it, d.rate)
		}
		if !check {
			continue
		}
		if o.Progress != nil {
			o.Progress(it, e.kl)
		}
		if e.kl < best {
			best, bestAt = e.kl, it
		}
		if !early && (it-bestAt > patience || e.gradient < flat) {
			break
		}
	}
	return e, nil
}

// advance moves all points and returns the squared norm of the gradient. The mean of
// the new places is 0.
func (d *descent) advance() float64 {
	par.Do(d.n, descentRows, d)
	var sum moved
	for _, s := range d.sums {
		sum.x += s.x
		sum.y += s.y
		sum.gradient += s.gradient
	}
	sum.x /= float64(d.n)
	sum.y /= float64(d.n)
	for i := range d.y {
		d.y[i].x -= sum.x
		d.y[i].y -= sum.y
	}
	return sum.gradient
}

// Run moves rows [lo, hi), a whole chunk.
func (d *descent) Run(lo, hi int) {
	var s moved
	for i := lo; i < hi; i++ {
		gx := 4 * (float64(d.exaggeration*d.attract[i].x) - d.repel[i].x/d.z)
		gy := 4 * (float64(d.exaggeration*d.attract[i].y) - d.repel[i].y/d.z)
		step, gain := &d.step[i], &d.gain[i]
		step.x, gain.x = d.along(step.x, gain.x, gx)
		step.y, gain.y = d.along(step.y, gain.y, gy)
		d.y[i].x += step.x
		d.y[i].y += step.y
		s.x += d.y[i].x
		s.y += d.y[i].y
		s.gradient += float64(gx*gx) + float64(gy*gy)
	}
	d.sums[lo/descentRows] = s
}

// along returns the next step and gain of one coordinate: the gain grows by 0.2 where
// the step continues downhill, and else shrinks to 0.8 of itself, not below 0.01.
func (d *descent) along(step, gain, gradient float64) (float64, float64) {
	if step*gradient < 0 {
		gain += .2
	} else {
		gain = max(gain*.8, .01)
	}
	return float64(d.momentum*step) - float64(d.rate*gain*gradient), gain
}
