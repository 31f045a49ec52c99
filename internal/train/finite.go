package train

import (
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
)

// NonFiniteError says where a NaN or an infinity first showed.
type NonFiniteError struct {
	Step   int
	Tensor string // e.g. "embeddings", "gradient of conv1.weight"
	Index  int    // flat index in the tensor
	Cause  string
}

func (e *NonFiniteError) Error() string {
	return fmt.Sprintf("step %d: %s is not finite at index %d. Likely cause: %s. The last checkpoint before it, if there is one, is unchanged", e.Step, e.Tensor, e.Index, e.Cause)
}

const (
	causeInput = "the data hold NaN or infinite values"
	// CauseRate is the likely cause where a network's own numbers overflow.
	CauseRate   = "the learning rate is too high; lower optimizer.lr, add optimizer.schedule.warmup or optimizer.clip"
	causeFactor = "the learning rate of the loss's own parameters is too high; lower loss.lr_factor"
	causeObject = "the loss overflows on these embeddings; set model.normalize: true or lower optimizer.lr"
)

// finiteArray returns an error when a holds a NaN or an infinity.
func finiteArray(step int, name string, a *array.Array, cause string) error {
	if i, ok := kernel.AllFinite(a.Data); !ok {
		return &NonFiniteError{step, name, i, cause}
	}
	return nil
}

// finiteEmbeddings is finiteArray for the embeddings z of images, and tells bad
// input from a bad network.
func finiteEmbeddings(step int, z, images *array.Array) error {
	err := finiteArray(step, "embeddings", z, CauseRate)
	if err != nil && finiteArray(step, "", images, "") != nil {
		return finiteArray(step, "embeddings", z, causeInput)
	}
	return err
}

// runaway is a size that parameters of a loss have only after steps that are far too long.
const runaway = 1e12

// cause is the likely cause of an overflow, other unless parameters of the loss have run
// away.
func (t *Trainer) cause(other string) string {
	p, ok := t.Objective.(loss.Parametric)
	if !ok {
		return other
	}
	for _, p := range p.Params() {
		for _, v := range p.Value.Data {
			if !(math.Abs(float64(v)) < runaway) {
				return causeFactor
			}
		}
	}
	return other
}

// blameGradient names the first parameter whose gradient is not finite; it is
// called once the gradient's norm is known not to be.
func (t *Trainer) blameGradient(step int) error {
	for _, p := range t.params {
		if p.Grad == nil {
			continue
		}
		if p.Store != nil {
			p.Store.FetchGrad(p)
		}
		if i, ok := kernel.AllFinite(p.Grad.Data); !ok {
			return &NonFiniteError{step, "gradient of " + p.Name, i, t.cause(CauseRate)}
		}
	}
	return &NonFiniteError{step, "norm of the gradient", 0, t.cause(CauseRate)}
}

// finiteState returns an error when a weight, a running statistic or a number of the
// optimizer is not finite; it keeps such numbers out of checkpoints.
func (t *Trainer) finiteState() error {
	t.Model.Params() // fetches them from a device
	for _, p := range t.params {
		if err := finiteArray(t.State.Step, p.Name, p.Value, t.cause(CauseRate)); err != nil {
			return err
		}
	}
	for _, s := range t.Optimizer.State() {
		if i, ok := kernel.AllFinite(s.Data); !ok {
			return &NonFiniteError{t.State.Step, "state of the optimizer, " + s.Name, i, t.cause(CauseRate)}
		}
	}
	return nil
}
