package adversary

import (
	"errors"
	"fmt"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/bound"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "ibp", Doc: "interval bounds of the triplet loss, for certificates by interval bounds",
		Defaults: IBPKeys{Eps: 0.1, Kappa: 0.5, Margin: 1, WarmUp: 500, Ramp: 4000}})
}

// IBPKeys train with interval bounds.
type IBPKeys struct {
	Eps    float64 `yaml:"eps" check:">0,<=1" doc:"radius in linf, pixels in [0, 1]; 1.1 times the budget to be certified"`
	Kappa  float64 `yaml:"kappa" check:">0,<=1" doc:"share of the bounds in the loss at the end"`
	Margin float64 `yaml:"margin" check:">=0" doc:"target gap of the two squared distances at the worst image"`
	WarmUp int     `yaml:"warmup" check:">=0,<=1000000000" doc:"steps without bounds"`
	Ramp   int     `yaml:"ramp" check:">=0,<=1000000000" doc:"number of steps after the warm-up in which eps and kappa rise from 0"`
}

// New implements Keys.
func (k IBPKeys) New(Setting) (Defense, error) { return &IBP{k: k}, nil }

// AtMost implements Saving: the bounds are there from the first step on.
func (k IBPKeys) AtMost() Keys {
	k.WarmUp, k.Ramp = 0, 0
	return k
}

// Fit implements Fitter.
func (IBPKeys) Fit(in Fitting) (out []component.Fault) {
	if in.Loss.Takes() != loss.Triplets {
		out = append(out, component.Faultf("loss.name", "defense ibp bounds a loss of triplets: choose triplet"))
	}
	if in.Shards > 1 {
		out = append(out, component.Faultf("train.shards", "defense ibp needs the whole batch in one place: set 1"))
	}
	if in.HeadOnly {
		out = append(out, component.Faultf("train.head_only", "defense ibp trains all layers: set 0 steps"))
	}
	if in.OnDevice {
		out = append(out, component.Faultf("defense.name", "the bounds of ibp are computed on the processor: set train.device to cpu"))
	}
	return out
}

// IBP trains with interval bounds (Gowal et al., On the effectiveness of interval bound
// propagation, 2018, arXiv 1810.12715), for a loss of triplets: (1 - kappa) times the loss
// of the clean images plus kappa times that of the worst image that intervals allow for
// each anchor, its positive and negative fixed (see bound.Triplets). eps and kappa are 0 at
// first and rise linearly.
type IBP struct {
	k     IBPKeys
	model *nn.Model
	pass  *bound.Pass
	worst bound.Triplets
	kappa float64 // of this step
	eps   float64
	loss  float64 // of the clean images
	grad  bool    // the last Penalty has a gradient
}

// Name returns "ibp".
func (*IBP) Name() string { return "ibp" }

// MinesClean returns false: triplets are mined from the embeddings that are trained on,
// which are clean.
func (*IBP) MinesClean() bool { return false }

// at returns how far eps and kappa have risen, from 0 to 1.
func (k IBPKeys) at(step uint64) float64 {
	switch done := float64(step) - float64(k.WarmUp); {
	case done < 0:
		return 0
	case done < float64(k.Ramp):
		return done / float64(k.Ramp)
	}
	return 1
}

// Binds implements Binding.
func (*IBP) Binds() bool { return true }

// Bind implements Binding.
func (d *IBP) Bind(m *nn.Model) error {
	if d.model == m {
		return nil
	}
	pass, err := bound.NewPass(m)
	if err != nil {
		return fmt.Errorf("defense ibp: %w", err)
	}
	d.model, d.pass = m, pass
	d.worst = bound.Triplets{Head: pass.Head, Normalized: m.Spec().Normalize, Margin: d.k.Margin}
	return nil
}

// Craft implements Defense: the images stay.
func (d *IBP) Craft(model nn.Embedder, in *Batch, _, step uint64) (*Batch, record.Cost, error) {
	if err := checkBatch("ibp", in); err != nil {
		return nil, record.Cost{}, err
	}
	if m, ok := model.(*nn.Model); !ok {
		return nil, record.Cost{}, errors.New("defense ibp needs the whole batch in one process: train without ranks")
	} else if err := d.Bind(m); err != nil {
		return nil, record.Cost{}, err
	}
	up := d.k.at(step)
	d.eps, d.kappa = up*d.k.Eps, up*d.k.Kappa
	if d.kappa == 0 {
		return in, record.Cost{}, nil
	}
	n := 2 * int64(in.Images.Rows()) // middles and widths
	return in, record.Cost{Forward: n, Backward: n}, nil
}

// Observe implements Observer.
func (d *IBP) Observe(loss float64) { d.loss = loss }

// Penalty returns what the bounds change of the loss.
func (d *IBP) Penalty(b *Batch, z, dz *array.Array) (float64, error) {
	d.grad = d.kappa > 0 && len(b.Tuples.Triplets) > 0
	if !d.grad {
		return 0, nil
	}
	worst := d.worst.Eval(d.pass.Forward(b.Images, d.eps), z, b.Tuples.Triplets)
	for i, v := range dz.Data {
		dz.Data[i] = float32(float64(v) * (1 - d.kappa))
	}
	return d.kappa * (worst - d.loss), nil
}

// AddGradients implements Weighing.
func (d *IBP) AddGradients() {
	if d.grad {
		d.pass.Backward(d.worst.Gradient(d.kappa))
	}
}
