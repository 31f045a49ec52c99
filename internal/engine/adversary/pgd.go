package adversary

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

// ErrNonFinite is wrapped by every error about a NaN or infinite objective or
// gradient met while crafting.
var ErrNonFinite = errors.New("non-finite value while crafting")

// Norm names the ball around the clean image.
type Norm string

const (
	Linf Norm = "linf" // |x - x0|_inf <= eps, pixel by pixel
	L2   Norm = "l2"   // |x - x0|_2 <= eps, over all pixels and channels
)

// Direction names what a step follows. In the ball's norm a step has length Step
// (Sign on Linf, Normalized on L2 are the steepest ones).
type Direction string

const (
	Sign       Direction = "sign"       // the sign of the gradient
	Normalized Direction = "normalized" // the gradient
)

// StepRule says how long the steps are.
type StepRule string

const (
	Fixed StepRule = "fixed" // Step throughout
	// Auto is APGD (Croce & Hein, ICML 2020, algorithm 1): first step 2 eps,
	// momentum 0.75/0.25, halved per image at checkpoints without progress, with
	// a restart from the best point so far. Step is not used.
	Auto StepRule = "auto"
)

// Start names the first iterate of the first restart; later restarts are random.
type Start string

const (
	FromClean  Start = "clean"
	FromRandom Start = "random" // uniform in the ball, then clipped to [0, 1]
)

// Keep says which iterate is the result.
type Keep string

const (
	Last Keep = "last" // as published attacks do
	Best Keep = "best" // the lowest objective of all iterates, start included
)

// PGD minimizes a Goal over images in the intersection of a ball around the
// clean ones and [0, 1], by projected gradient descent on a frozen model (Madry
// et al., ICLR 2018). Its exported fields are options; the rest is scratch, so a
// PGD serves one goroutine at a time and is used by pointer.
type PGD struct {
	Norm       Norm
	Eps        float64 // radius, pixels in [0, 1]; 0 keeps the images
	Step       float64 // length of a Fixed step
	Iterations int     // gradient steps
	Direction  Direction
	Rule       StepRule
	Start      Start
	Restarts   int // runs, at least 1; for each image the best one is the result
	Keep       Keep
	FGSM       bool    // with Iterations 1, step by Eps whatever Step is
	FromOut    bool    // begin at the images that out holds, which lie in the ball, whatever Start is; one run with Keep best
	Mode       nn.Mode // Eval, or BatchStats; never Train
	Precision  Precision
	// KeepPrevious keeps the embeddings of the iterate before the last one, of
	// the restart that won, in Report.Previous.
	KeepPrevious bool
	// SkipFinal saves the forward pass at the last iterate: the report then has
	// the objective of the one before and no embeddings. For training, with Keep
	// last, a fixed step and one run.
	SkipFinal bool

	c       crafting
	u       until
	precise precise
}

// Validate returns an error naming the first option that is wrong.
func (p *PGD) Validate() error {
	bad := func(format string, args ...any) error { return fmt.Errorf("pgd: "+format, args...) }
	switch {
	case p.Norm != Linf && p.Norm != L2:
		return bad("unknown norm %q (valid: linf, l2)", string(p.Norm))
	case p.Direction != Sign && p.Direction != Normalized:
		return bad("unknown direction %q (valid: sign, normalized)", string(p.Direction))
	case p.Rule != Fixed && p.Rule != Auto:
		return bad("unknown step rule %q (valid: fixed, auto)", string(p.Rule))
	case p.Precision != "" && p.Precision != Float32 && p.Precision != BF16:
		return bad("unknown precision %q (valid: float32, bf16)", string(p.Precision))
	case p.Start != FromClean && p.Start != FromRandom:
		return bad("unknown start %q (valid: clean, random)", string(p.Start))
	case p.Keep != Last && p.Keep != Best:
		return bad("unknown keep %q (valid: last, best)", string(p.Keep))
	case !(p.Eps >= 0) || math.IsInf(p.Eps, 0):
		return bad("eps is %v, want a finite number >= 0", p.Eps)
	case p.Norm == Linf && p.Eps > 1:
		return bad("eps is %v; pixels lie in [0, 1], so write 8/255 for 8", p.Eps)
	case p.Iterations < 1:
		return bad("iterations is %d, want 1 or more", p.Iterations)
	case p.Rule == Fixed && !(p.FGSM && p.Iterations == 1) && (!(p.Step > 0) || math.IsInf(p.Step, 0)):
		return bad("step is %v, want a finite number > 0", p.Step)
	case p.Restarts < 1:
		return bad("restarts is %d, want 1 or more runs", p.Restarts)
	case p.FromOut && (p.Keep != Best || p.Restarts != 1):
		return bad("a run from given images keeps the best iterate of one run")
	case p.Mode != nn.Eval && p.Mode != nn.BatchStats:
		return bad("the model must be frozen: mode eval or batch statistics, not train")
	case p.SkipFinal && (p.Keep != Last || p.Rule != Fixed || p.Restarts != 1 || p.KeepPrevious):
		return bad("skip final works with keep last, a fixed step, one run and without keep previous")
	}
	return nil
}

// Run writes to out (B, H, W, C) the perturbed images of x0 (B, H, W, C), pixels
// in [0, 1]. ids name the images: random starts depend on (seed, id, restart)
// alone, not on the rest of the batch; without random starts ids may be nil. The
// model is used in p.Mode and asked for input gradients alone. The report belongs
// to p and is valid until its next Run.
func (p *PGD) Run(model nn.Embedder, x0 *array.Array, ids []uint64, goal Goal, seed uint64, out *array.Array) (*Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := p.check(x0, ids, out); err != nil {
		return nil, err
	}
	model, err := p.embedder(model)
	if err != nil {
		return nil, err
	}
	c := &p.c
	c.prepare(p, x0, out, model.Dim())
	stepper, _ := goal.(Stepper)
	stopper, _ := goal.(Stopper)
	for restart := range p.Restarts {
		c.begin(ids, seed, restart)
		end := p.Iterations
		for t := 0; ; t++ {
			z := model.Embed(c.x, p.Mode)
			c.report.Forward++
			dz := c.dz
			final := t == end
			if final {
				dz = nil
			}
			if stepper != nil {
				stepper.Step(t)
			}
			if err := goal.Eval(z, c.per, dz); err != nil {
				return nil, fmt.Errorf("pgd: step %d: %w", t, err)
			}
			if err := c.checkObjective(t); err != nil {
				return nil, err
			}
			if final {
				c.settle(t, z)
				break
			}
			dx := model.Backward(dz, nn.Input)
			c.report.Backward++
			if err := c.advance(t, z, dx); err != nil {
				return nil, err
			}
			if stopper != nil && stopper.Stop() {
				end = t + 1
			}
			if t+1 == end {
				if p.KeepPrevious {
					copy(c.previous.Data, z.Data)
				}
				if p.SkipFinal {
					break
				}
			}
		}
		c.merge(restart)
	}
	c.summarize()
	return &c.report, nil
}

// check returns an error unless the arguments of Run fit together.
func (p *PGD) check(x0 *array.Array, ids []uint64, out *array.Array) error {
	if len(x0.Shape) == 0 || len(x0.Data) == 0 {
		return fmt.Errorf("pgd: %w: no images (shape %v)", array.ErrShape, x0.Shape)
	}
	if err := out.SameShape("output images", x0.Shape...); err != nil {
		return fmt.Errorf("pgd: %w", err)
	}
	if &out.Data[0] == &x0.Data[0] {
		return errors.New("pgd: the output images share storage with the clean ones")
	}
	if (p.Start == FromRandom || p.Restarts > 1) && len(ids) != x0.Shape[0] {
		return fmt.Errorf("pgd: random starts need an id for each of the %d images, got %d", x0.Shape[0], len(ids))
	}
	for i, v := range x0.Data {
		if !(v >= 0 && v <= 1) {
			n := len(x0.Data) / x0.Shape[0]
			return &ImageError{i / n, fmt.Errorf("pgd: image %d, element %d is %v, outside [0, 1]", i/n, i%n, v)}
		}
	}
	return nil
}
