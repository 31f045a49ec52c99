package train

import (
	"slices"
	"strings"

	"tercet/internal/engine/kernel"
	"tercet/internal/safetensors"
)

// Average is the exponential moving average of a network's weights and running statistics:
// each step, average = decay average + (1 - decay) weight (Polyak and Juditsky, 1992, with
// the weights of Tarvainen and Valpola, NeurIPS 2017). Networks of its checkpoints that are
// evaluated are the average; training continues with the weights themselves.
type Average struct {
	Decay float64
	at    [][]float32 // of each parameter of the model
}

const averaged = "ema/"

// beginAverage takes the weights that training begins with as the average.
func (t *Trainer) beginAverage() {
	a := t.Average
	if a == nil || a.at != nil {
		return
	}
	for _, p := range t.Model.Params() {
		a.at = append(a.at, slices.Clone(p.Value.Data))
	}
}

// followAverage moves the average after a step.
func (t *Trainer) followAverage() {
	if t.Average == nil {
		return
	}
	decay := float32(t.Average.Decay)
	for i, p := range t.Model.Params() {
		kernel.Scale(decay, t.Average.at[i])
		kernel.Axpy(1-decay, p.Value.Data, t.Average.at[i])
	}
}

// WithAverage calls f while the network has the average as its weights, if there is one.
func (t *Trainer) WithAverage(f func() error) error {
	if t.Average == nil {
		return f()
	}
	t.beginAverage()
	t.swap()
	defer t.swap()
	return f()
}

// TakeAverage makes the average the network's weights, once training is over.
func (t *Trainer) TakeAverage() {
	if t.Average != nil {
		t.swap()
	}
}

// swap exchanges the weights and their average in place.
func (t *Trainer) swap() {
	for i, p := range t.Model.Params() {
		for k, v := range t.Average.at[i] {
			t.Average.at[i][k], p.Value.Data[k] = p.Value.Data[k], v
		}
	}
}

// storeAverage puts the average into a checkpoint.
func (t *Trainer) storeAverage(f *safetensors.File) {
	if t.Average == nil {
		return
	}
	t.beginAverage()
	for i, p := range t.Model.Params() {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: averaged + p.Name, Shape: p.Value.Shape, Data: t.Average.at[i]})
	}
}

// restoreAverage takes the average of a checkpoint, whose weights the network has.
func (t *Trainer) restoreAverage(c *Checkpoint) error {
	if t.Average == nil {
		return nil
	}
	t.Average.at = nil
	t.beginAverage()
	t.swap()
	defer t.swap()
	return c.fill(averaged, t.Model.Params())
}

// network says how the names of the weights begin that the checkpoint is evaluated by.
func (c *Checkpoint) network() string {
	for _, t := range c.file.Tensors {
		if strings.HasPrefix(t.Name, averaged) {
			return averaged
		}
	}
	return "model/"
}
