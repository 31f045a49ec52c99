package nn

import "tercet/internal/engine/array"

// Mode says how a forward pass treats batch statistics.
type Mode uint8

const (
	// Eval uses running statistics and keeps them: evaluation and crafting.
	// Backward may be asked for Input alone.
	Eval Mode = iota
	// Train uses the batch's statistics and updates the running ones.
	Train
	// BatchStats uses the batch's statistics and leaves the running ones alone.
	BatchStats
	// Frozen is Eval for training: Backward may be asked for Weights too.
	Frozen
)

// running reports whether batch norm uses its running statistics.
func (m Mode) running() bool { return m == Eval || m == Frozen }

// Need says what a backward pass has to compute. PGD asks for Input alone.
type Need uint8

const (
	// Weights asks for parameter gradients, added to Param.Grad.
	Weights Need = 1 << iota
	// Input asks for the gradient with respect to the layer's input.
	Input
)

// Param is a trained tensor and its gradient, or (Grad nil) a saved buffer such
// as a running mean.
type Param struct {
	Name  string // path in the model, e.g. "conv1.weight"
	Value *array.Array
	Grad  *array.Array // same shape as Value; nil for a buffer
	Decay bool         // weight decay applies (weights, not biases or batch norm)
	Store Store        // of the engine that keeps both, see Model.Run; nil: memory
}

// Layer is one differentiable step. It owns its outputs and caches: they are
// made once per batch shape and are valid until its next Forward or Backward.
// A layer serves one goroutine; inside, it uses all threads.
type Layer interface {
	// OutShape returns the shape of one output row for one input row (without
	// the batch axis), or an error saying what does not fit. It is called once,
	// when the model is built.
	OutShape(in []int) ([]int, error)
	// Forward computes the output (B, ...) for x (B, ...) and remembers what
	// Backward needs. x must stay unchanged until Backward.
	Forward(x *array.Array, mode Mode) *array.Array
	// Backward takes dL/d(output of the last Forward), adds parameter gradients
	// to Grad when need has Weights, and returns dL/dx when need has Input,
	// otherwise nil.
	Backward(dy *array.Array, need Need) *array.Array
	// Params returns trained parameters and buffers in a fixed order.
	Params() []*Param
}

// Embedder maps images (B, H, W, C) to embeddings (B, D) and back. Attacks,
// metrics and clustering know a network only as this.
type Embedder interface {
	// Dim returns D.
	Dim() int
	// Embed returns embeddings (B, D), owned by the embedder and valid until its
	// next call.
	Embed(x *array.Array, mode Mode) *array.Array
	// Backward takes dL/dz (B, D) of the last Embed; see Layer.Backward.
	Backward(dz *array.Array, need Need) *array.Array
	// Params returns parameters and buffers in a fixed order, names unique.
	Params() []*Param
}
