package adversary

import (
	"tercet/internal/component"
	"tercet/internal/engine/nn"
)

// CraftingKeys are projected gradient descent on the images of a training step.
type CraftingKeys struct {
	Norm      string   `yaml:"norm" enum:"linf|l2" doc:"the ball"`
	Eps       *float64 `yaml:"eps" check:">=0" doc:"radius, pixels in [0, 1]; null takes 77/255 for images of up to 64 pixels and 8/255 for larger ones"`
	Alpha     *float64 `yaml:"alpha" check:">0" doc:"step size; null takes 3/255 for images of up to 64 pixels and 1/255 for larger ones"`
	Steps     int      `yaml:"steps" check:">=1,<=10000" doc:"eta, gradient steps; a single one has length eps"`
	Scale     string   `yaml:"scale" enum:"fixed|ball" doc:"fixed steps by alpha; ball by 2.5 eps / steps, so that few steps reach the ball's edge too"`
	Start     string   `yaml:"start" enum:"clean|random" doc:"from the clean image, or from a random point of the ball"`
	BatchNorm string   `yaml:"batchnorm" enum:"running|batch" doc:"statistics of batch norm while crafting"`
	Precision string   `yaml:"precision" enum:"float32|bf16" doc:"of the products while crafting: bf16 rounds activations and weights to bfloat16 and adds up in float32, on Intel processors with AMX and for networks of plain convolutions and linear layers (c2f2, lenet, mlp, linear)"`
	Tolerance *float64 `yaml:"tolerance" check:">=0" doc:"stop crafting when the objective changes by less than this; null: the default of the implementation; 0: always take all steps"`
}

// CraftingDefaults returns the papers' cheaper budget, eta = 8.
func CraftingDefaults() CraftingKeys {
	return CraftingKeys{Norm: "linf", Steps: 8, Scale: "fixed", Start: "clean", BatchNorm: "running", Precision: string(Float32)}
}

// faults returns what tags do not say, for the section pgd.
func (k CraftingKeys) faults() (out []component.Fault) {
	if k.Norm == "linf" && k.Eps != nil && *k.Eps > 1 {
		out = append(out, component.Faultf("pgd.eps", "pixels lie in [0, 1]; write 8/255 for 8"))
	}
	if k.Eps != nil && *k.Eps == 0 {
		out = append(out, component.Faultf("pgd.eps", "is 0: a defense that perturbs nothing; write defense: none"))
	}
	if k.Norm == "l2" && k.Eps == nil {
		out = append(out, component.Faultf("pgd.eps", "must be set for the l2 ball; the usual budgets are for linf"))
	}
	if k.Norm == "l2" && k.Alpha == nil && k.Scale == "fixed" && k.Steps > 1 {
		out = append(out, component.Faultf("pgd.alpha", "must be set for the l2 ball, or set defense.pgd.scale: ball"))
	}
	return out
}

// fit returns what bfloat16 asks of the rest of an experiment.
func (k CraftingKeys) fit(in Fitting) (out []component.Fault) {
	if k.Precision != string(BF16) {
		return nil
	}
	if in.Shards > 1 {
		out = append(out, component.Faultf("train.shards", "crafting with bfloat16 needs the whole batch in one place: set 1, or defense.pgd.precision: float32"))
	}
	if in.OnDevice {
		out = append(out, component.Faultf("defense.pgd.precision", "crafting with bfloat16 computes on the processor: set train.device to cpu, or defense.pgd.precision: float32"))
	}
	return out
}

// SmallImages is the side up to which images get the budget of MNIST, in attacks and
// in crafting.
const SmallImages = 64

// PGD returns the attack of a training step on images of that side in pixels, with
// the papers' budget for them where k leaves it open.
func (k CraftingKeys) PGD(side int) PGD {
	p := Training()
	p.Norm, p.Start, p.Iterations = Norm(k.Norm), Start(k.Start), k.Steps
	p.Precision = Precision(k.Precision)
	p.Eps, p.Step = 8./255, 1./255
	if side <= SmallImages {
		p.Eps, p.Step = 77./255, 3./255
	}
	given(&p.Eps, k.Eps)
	given(&p.Step, k.Alpha)
	if k.Scale == "ball" {
		p.Step = scaledStep(p.Eps, k.Steps)
	}
	if p.Norm == L2 {
		p.Direction = Normalized
	}
	if k.BatchNorm == "batch" {
		p.Mode = nn.BatchStats
	}
	return p
}

// given replaces a default by what the config says.
func given(to, v *float64) {
	if v != nil {
		*to = *v
	}
}
