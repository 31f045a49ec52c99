package export

import (
	"strings"

	"tercet/internal/engine/nn"
	"tercet/internal/engine/tensors"
	"tercet/internal/safetensors"
)

// About says what a network is of, for the files that hold it.
type About struct {
	Run        string
	Checkpoint string
	Step       int
	Version    string // of Tercet
}

// meanStd begins the names of what normalizes pixels.
const meanStd = "mean_std."

// StateDict returns the weights of m as PyTorch has them, under its names and with the
// counters of batches that it expects, in its order. What normalizes pixels is left out.
func StateDict(m *nn.Model) []safetensors.Tensor {
	var out []safetensors.Tensor
	params := m.Params()
	for i, t := range m.TorchTensors() {
		if strings.HasPrefix(t.Name, meanStd) {
			continue
		}
		out = append(out, safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: tensors.Reorder(params[i].Value.Data, t.View, t.Axes)})
		if layer, ok := strings.CutSuffix(t.Name, ".running_var"); ok {
			out = append(out, safetensors.Tensor{Name: layer + ".num_batches_tracked", Shape: []int{}, Data: []float32{0}, Integers: true})
		}
	}
	return out
}
