package train

import (
	"slices"

	"tercet/internal/engine/kernel"
)

// StepsPerEpoch is the number of optimizer steps of an epoch of so many batches, each of
// which makes its gradient of so many of them; the last takes what is left.
func StepsPerEpoch(batches, accumulate int) int {
	accumulate = max(accumulate, 1)
	return (batches + accumulate - 1) / accumulate
}

// Position returns the epoch of a step, and which of the epoch's batches it begins with.
func (o Options) Position(step int) (epoch, at int) {
	return step / o.StepsPerEpoch, step % o.StepsPerEpoch * max(o.Accumulate, 1)
}

// batches is the number of batches whose gradients make a step.
func (o Options) batches(step int) int {
	if o.Accumulate < 2 {
		return 1
	}
	_, at := o.Position(step)
	return min(o.Accumulate, o.BatchesPerEpoch-at)
}

// accumulate adds the gradients of batch k of n to those before, and makes those of the last
// the mean. All are added in the order of the batches.
func (t *Trainer) accumulate(k, n int) {
	if n == 1 {
		return
	}
	at := 0
	for _, p := range t.params {
		if !p.Trained() {
			continue
		}
		if p.Store != nil {
			p.Store.FetchGrad(p)
		}
		g := p.Grad.Data
		if at == len(t.sums) {
			t.sums = append(t.sums, slices.Clone(g))
		}
		sum := t.sums[at]
		at++
		if k == 0 {
			copy(sum, g)
		} else {
			kernel.Add(sum, g, sum)
		}
		if k == n-1 {
			copy(g, sum)
			kernel.Scale(1/float32(n), g)
		}
	}
}

// add puts what another batch of the step left behind what those before did.
func (r *stepResult) add(o stepResult) {
	r.images += o.images
	r.z = o.z
	r.mined.Fallback += o.mined.Fallback
	r.mined.Easy, r.mined.Semihard, r.mined.Hard = r.mined.Easy+o.mined.Easy, r.mined.Semihard+o.mined.Semihard, r.mined.Hard+o.mined.Hard
	r.loss.Loss += o.loss.Loss
	r.loss.Tuples += o.loss.Tuples
	r.loss.Active += o.loss.Active
	r.loss.Positive += o.loss.Positive
	r.loss.Negative += o.loss.Negative
	r.penalty += o.penalty
}

// mean divides what is a mean over n batches.
func (r *stepResult) mean(n int) {
	for _, v := range []*float64{&r.loss.Loss, &r.loss.Positive, &r.loss.Negative, &r.penalty} {
		*v /= float64(n)
	}
}
