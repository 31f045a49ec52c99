package record

// Cost counts passes over one batch row, so that methods can be compared: a
// plain step on B images costs B forward and B backward passes.
type Cost struct {
	Forward  int64 `json:"forward"`
	Backward int64 `json:"backward"`
}

// Add adds o to c.
func (c *Cost) Add(o Cost) { c.Forward += o.Forward; c.Backward += o.Backward }

// Radius is the size of the perturbations used, in pixel units.
type Radius struct {
	MeanLinf float64 `json:"mean_linf"`
	MaxLinf  float64 `json:"max_linf"`
	MeanL2   float64 `json:"mean_l2"`
	MaxL2    float64 `json:"max_l2"`
}

// Crafted sums up what a defence did over some training steps.
type Crafted struct {
	Steps        int      `json:"steps"`     // training steps
	MeanLinf     float64  `json:"mean_linf"` // size of the perturbations, pixels in [0, 1]: mean over images and steps,
	MaxLinf      float64  `json:"max_linf"`  // and the largest one
	MeanL2       float64  `json:"mean_l2"`
	Gradients    float64  `json:"gradient_steps"`            // of crafting, in the mean
	ZeroGradient float64  `json:"zero_gradient"`             // fraction of input gradients that vanished
	Achieved     *float64 `json:"hardness,omitempty"`        // mean d(a,p) - d(a,n) of the crafted triplets in the training pass
	Wanted       *float64 `json:"wanted_hardness,omitempty"` // mean destination, where the defence has one
}

// CostRecord is what a result took.
type CostRecord struct {
	Cost
	Seconds float64 `json:"seconds"`
}
