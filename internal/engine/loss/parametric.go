package loss

import (
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// Parametric is implemented by objectives that have parameters, which are trained with
// the network's.
type Parametric interface {
	Objective
	// Begin draws the parameters for embeddings of dim numbers and labels from 0 to
	// classes-1. It is called once, before Eval.
	Begin(dim, classes int, r *rng.Stream) error
	// Params returns the parameters; their names begin with "loss/". Eval with a gradient
	// overwrites their gradients, and without leaves them as they are.
	Params() []*nn.Param
}

// Learned is implemented by the options of Parametric losses.
type Learned interface {
	Options
	// Rate returns the learning rate of the parameters as a multiple of the network's, and
	// their weight decay; auto is the network's.
	Rate() (factor float64, decay component.Auto)
}

// Detached is implemented by the options of losses whose gradient is not the derivative of
// their value, because they hold weights fixed that depend on the embeddings.
type Detached interface{ Detached() bool }

// NewParam returns a parameter of zeros, or an error where it is too large.
func NewParam(name string, decay bool, shape ...int) (*nn.Param, error) {
	n := 1
	for _, d := range shape {
		if d < 1 || n > 1<<30/d {
			return nil, fmt.Errorf("loss: parameter %s of shape %v does not have 1 to 2^30 numbers", name, shape)
		}
		n *= d
	}
	return &nn.Param{Name: "loss/" + name, Value: array.New(shape...), Grad: array.New(shape...), Decay: decay}, nil
}

// CheckClasses refuses labels that there are no parameters for.
func CheckClasses(labels []int32, classes int) error {
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return fmt.Errorf("loss: row %d of the batch has label %d; the loss has parameters for %d classes, from 0", i, y, classes)
		}
	}
	return nil
}
