package adversary

import (
	"encoding/json"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// Batch is what one training step works on. A defense may replace it by a
// batch of other images, and then names the tuples on its new rows.
type Batch struct {
	Images *array.Array // (B, H, W, C), pixels in [0, 1]
	Labels []int32      // (B) class of each row
	IDs    []uint64     // (B) dataset index of each row; seeds per-image draws
	Tuples *loss.Tuples // rows of Images, or nil: mine from the embeddings trained on
	// Clean holds the embeddings (B, D) of Images in Eval mode where they are
	// known, as they are when Tuples were mined from them. They need not outlive
	// the model's next pass.
	Clean *array.Array
	// Roles says that Images are so many runs of rows of equal length, where row i of each
	// belongs to tuple i; 0 where they are not.
	Roles int
}

// Defense may replace the images of a step by crafted ones, and may add to the
// objective. Training without a defense is None.
type Defense interface {
	Name() string
	// MinesClean says whether Craft needs in.Tuples, mined from the embeddings
	// of the clean images in Eval mode.
	MinesClean() bool
	// Craft returns the batch to train on, owned by the defense and valid until
	// its next call; seed and step set its random draws.
	Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error)
	// Penalty returns what the defense adds to the loss of embeddings z (B, D)
	// of the crafted batch, and adds its gradient to dz.
	Penalty(b *Batch, z, dz *array.Array) (float64, error)
}

// Observer is a defense that follows the loss. Whoever trains tells it, after
// every Craft, the objective's value on the crafted batch without the penalty.
type Observer interface{ Observe(loss float64) }

// Weighing is a defense whose penalty depends on the weights not only by way of the
// embeddings z. Whoever trains calls it after the model's backward pass: AddGradients adds
// to the weights' gradients what the last Penalty left.
type Weighing interface{ AddGradients() }

// Binding is a defense that looks into the network. Whoever trains may call Bind before the
// first Craft, to learn early that there is a layer that the defense cannot do with.
type Binding interface {
	Bind(m *nn.Model) error
	// Binds says whether Bind looks into the network at all.
	Binds() bool
}

// Stateful is a defense whose next step depends on earlier ones, so that a
// checkpoint must hold its state.
type Stateful interface {
	// State returns the state after a whole step, as JSON.
	State() json.RawMessage
	// Restore sets the state to one that State returned.
	Restore(state json.RawMessage) error
}

// trait is what most defenses say of themselves; they embed it. Those that mine clean
// perturb triplets; the others mine from the embeddings of what they made.
type trait struct {
	name       string
	minesClean bool
}

// Name implements Defense.
func (t trait) Name() string { return t.name }

// MinesClean implements Defense.
func (t trait) MinesClean() bool { return t.minesClean }

// Penalty returns 0.
func (trait) Penalty(*Batch, *array.Array, *array.Array) (float64, error) { return 0, nil }

// None trains on the images as they are.
type None struct{}

// Name returns "none".
func (None) Name() string { return "none" }

// MinesClean returns false: plain training mines from the embeddings that it
// differentiates, one forward pass a step.
func (None) MinesClean() bool { return false }

// Craft returns in.
func (None) Craft(_ nn.Embedder, in *Batch, _, _ uint64) (*Batch, record.Cost, error) {
	return in, record.Cost{}, nil
}

// Penalty returns 0.
func (None) Penalty(*Batch, *array.Array, *array.Array) (float64, error) { return 0, nil }
