package adversary

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

func init() {
	Family.Register(component.Component[Keys]{
		Name: "free", Doc: "hardness manipulation with perturbations that are kept from step to step (free adversarial training)",
		Defaults: FreeKeys{Replays: 4},
	})
}

// FreeKeys are free adversarial training towards a destination hardness.
type FreeKeys struct {
	Source      *string  `yaml:"source" doc:"sampler of triplets to use instead of the miner; null: use the miner"`
	Destination Target   `yaml:"destination" doc:"how hard they shall become"`
	Replays     int      `yaml:"replays" check:">=1,<=1000" doc:"m, steps in a row on one batch"`
	Eps         *float64 `yaml:"eps" check:">0,<=1" doc:"radius of the linf ball, pixels in [0, 1]; null takes 77/255 for images of up to 64 pixels and 8/255 for larger ones"`
	Alpha       *float64 `yaml:"alpha" check:">0,<=1" doc:"step of the perturbations; null takes eps, as Shafahi et al. do"`
}

// New implements Keys.
func (k FreeKeys) New(s Setting) (Defense, error) {
	hm := HMKeys{Implementation: string(Paper), Source: k.Source, Destination: k.Destination, PGD: k.Crafting()}
	d, err := hm.New(s)
	if err != nil {
		return nil, err
	}
	p := hm.PGD.PGD(s.Side)
	f := &Free{trait: trait{"free", true}, h: d.(*HM), eps: float32(p.Eps), step: float32(p.Eps)}
	if k.Alpha != nil {
		f.step = float32(*k.Alpha)
	}
	return f, nil
}

// Crafting implements Crafter.
func (k FreeKeys) Crafting() CraftingKeys {
	c := CraftingDefaults()
	c.Eps, c.Alpha, c.Steps = k.Eps, k.Alpha, 1
	return c
}

// Check implements component.Checker.
func (k FreeKeys) Check() []component.Fault { return HMKeys{Source: k.Source}.sourceFaults() }

// Fit implements Fitter.
func (k FreeKeys) Fit(in Fitting) []component.Fault {
	return HMKeys{Destination: k.Destination}.Fit(in)
}

// Samples implements OnTriplets.
func (FreeKeys) Samples() bool { return true }

// Sampler implements Sourced.
func (k FreeKeys) Sampler() string { return HMKeys{Source: k.Source}.Sampler() }

// Times implements Replaying.
func (k FreeKeys) Times() int { return k.Replays }

// Free is free adversarial training (Shafahi et al., NeurIPS 2019) with hardness
// manipulation, which Zhou & Patel (CVPR 2022, supplement, B.6-I) leave for future work.
// A batch is trained on several times in a row. The i-th triplet of a batch has
// perturbations of its own, which the i-th triplets of later batches continue with: they
// depend on no image. At each step the network is trained on the images as they are
// perturbed, and the perturbations take one step towards the destination hardness, by
// gradients of the same weights at the same images.
//
// In the original both gradients are of the training loss, and one pass gives them. The
// objective of hardness manipulation is another one, so that a step costs two passes
// instead of the eta + 1 of crafting.
type Free struct {
	trait
	h         *HM // triplets, destinations, objective
	eps, step float32
	delta     [3][]float32 // by role: perturbations of its triplets, pixels in a row
	dz        *array.Array
	per       []float64
	linf, l2  []float64
}

// Observe implements Observer.
func (f *Free) Observe(l float64) { f.h.Observe(l) }

// Crafted implements Reporter.
func (f *Free) Crafted() Crafted { return f.h.Crafted() }

// Craft implements Defense.
func (f *Free) Craft(model nn.Embedder, in *Batch, seed, step uint64) (*Batch, record.Cost, error) {
	var cost record.Cost
	h := f.h
	if h.waiting {
		return nil, cost, errors.New("free: the destination follows the loss, but the loss of the last step was not observed")
	}
	source, err := h.prepare(model, in, seed, step, &cost)
	if err != nil {
		return nil, cost, err
	}
	h.gather(in, source, 3)
	n := len(source)
	pixels := len(h.clean.Data) / (3 * n)
	f.perturb(n, pixels)
	rows := int64(3 * n)
	z := model.Embed(&h.first, nn.Eval)
	f.dz, f.per = fitMatrix(f.dz, 3*n, model.Dim()), grow(f.per, 3*n)
	if err := h.goal.Eval(z, f.per, f.dz); err != nil {
		return nil, cost, fmt.Errorf("free: %w", err)
	}
	for i, v := range f.per {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, cost, &ImageError{i, fmt.Errorf("free: %w: the objective of image %d is %v; the model's weights or its embedding of that image are not finite", ErrNonFinite, i, v)}
		}
	}
	dx := model.Backward(f.dz, nn.Input)
	cost.Add(record.Cost{Forward: rows, Backward: rows})
	still, err := f.advance(n, pixels, dx)
	if err != nil {
		return nil, cost, err
	}
	h.crafted = Crafted{Radius: RadiusOf(f.linf, f.l2), ZeroGradient: float64(still) / float64(rows), Steps: 1, Wanted: &h.wanted}
	h.waiting = h.o.Destination.Gradual()
	return &h.batch, cost, nil
}

// perturb writes the perturbed images of n triplets, and measures how far they are.
func (f *Free) perturb(n, pixels int) {
	f.linf, f.l2 = grow(f.linf, 3*n), grow(f.l2, 3*n)
	for role := range f.delta {
		for len(f.delta[role]) < n*pixels {
			f.delta[role] = append(f.delta[role], 0)
		}
		at := role * n * pixels
		for k, d := range f.delta[role][:n*pixels] {
			f.h.first.Data[at+k] = min(max(f.h.clean.Data[at+k]+d, 0), 1)
		}
	}
	for i := range 3 * n {
		f.linf[i], f.l2[i] = distances(f.h.first.Row(i), f.h.clean.Row(i))
	}
}

// advance takes a step with the perturbations against the gradient dx of the images,
// and returns how many images had none.
func (f *Free) advance(n, pixels int, dx *array.Array) (still int, err error) {
	for i := range 3 * n {
		g := dx.Row(i)
		largest := kernel.MaxAbs(g)
		if k := firstNonFinite(g, largest); k >= 0 {
			return 0, &ImageError{i, fmt.Errorf("free: %w: the input gradient of image %d is %v in element %d; the model's weights or activations are not finite", ErrNonFinite, i, g[k], k)}
		}
		if largest == 0 {
			still++
		}
		d := f.delta[i/n][i%n*pixels:][:pixels]
		for k, v := range g {
			switch {
			case v > 0:
				d[k] = max(d[k]-f.step, -f.eps)
			case v < 0:
				d[k] = min(d[k]+f.step, f.eps)
			}
		}
	}
	return still, nil
}

// freeState is what a checkpoint holds.
type freeState struct {
	HM    json.RawMessage `json:"hm"`
	Delta [3][]byte       `json:"delta"` // float32, little-endian
}

// State implements Stateful.
func (f *Free) State() json.RawMessage {
	s := freeState{HM: f.h.State()}
	for role, d := range f.delta {
		s.Delta[role] = make([]byte, 0, 4*len(d))
		for _, v := range d {
			s.Delta[role] = binary.LittleEndian.AppendUint32(s.Delta[role], math.Float32bits(v))
		}
	}
	b, _ := json.Marshal(s) // bytes and a message that is JSON
	return b
}

// Restore implements Stateful.
func (f *Free) Restore(state json.RawMessage) error {
	var s freeState
	if err := json.Unmarshal(state, &s); err != nil {
		return fmt.Errorf("free: state: %w", err)
	}
	if err := f.h.Restore(s.HM); err != nil {
		return err
	}
	for role, b := range s.Delta {
		if len(b)%4 != 0 || len(b) != len(s.Delta[0]) {
			return errors.New("free: the state holds perturbations of other sizes")
		}
		f.delta[role] = f.delta[role][:0]
		for ; len(b) > 0; b = b[4:] {
			v := math.Float32frombits(binary.LittleEndian.Uint32(b))
			if !(v >= -f.eps && v <= f.eps) {
				return fmt.Errorf("free: the state holds a perturbation of %v, outside the ball of %v", v, f.eps)
			}
			f.delta[role] = append(f.delta[role], v)
		}
	}
	return nil
}
