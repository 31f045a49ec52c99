package record

// Cost counts passes over one batch row, so that methods can be compared: a
// plain step on B images costs B forward and B backward passes.
type Cost struct {
	Forward  int64 `json:"forward" doc:"images passed forward"`
	Backward int64 `json:"backward" doc:"images passed backward"`
}

// Add adds o to c.
func (c *Cost) Add(o Cost) { c.Forward += o.Forward; c.Backward += o.Backward }

// Radius is the size of the perturbations used, in pixel units.
type Radius struct {
	MeanLinf float64 `json:"mean_linf" doc:"mean over images of the largest change of a pixel, pixels in [0, 1]"`
	MaxLinf  float64 `json:"max_linf" doc:"largest change of a pixel"`
	MeanL2   float64 `json:"mean_l2" doc:"mean Euclidean norm of the perturbations"`
	MaxL2    float64 `json:"max_l2" doc:"largest Euclidean norm of a perturbation"`
}

// Crafted sums up what a defense did over some training steps.
type Crafted struct {
	Steps        int      `json:"steps" doc:"training steps"`
	MeanLinf     float64  `json:"mean_linf" doc:"mean over images of the largest change of a pixel, pixels in [0, 1]"`
	MaxLinf      float64  `json:"max_linf" doc:"largest change of a pixel"`
	MeanL2       float64  `json:"mean_l2" doc:"mean Euclidean norm of the perturbations, pixels in [0, 1]"`
	Gradients    float64  `json:"gradient_steps" doc:"mean number of gradient steps that craft an image"`
	ZeroGradient float64  `json:"zero_gradient" doc:"fraction of vanished input gradients"`
	Achieved     *float64 `json:"hardness,omitempty" doc:"mean hardness d(a,p) - d(a,n) of the crafted triplets, as trained on"`
	Benign       *float64 `json:"benign_hardness,omitempty" doc:"mean hardness of the same triplets on clean images"`
	Wanted       *float64 `json:"wanted_hardness,omitempty" doc:"mean target hardness of crafting, if the defense has one"`
}

// CostRecord is what a result took.
type CostRecord struct {
	Cost
	Seconds float64 `json:"seconds,omitempty" doc:"wall time in seconds; absent if work was resumed or divided into tasks"`
}
