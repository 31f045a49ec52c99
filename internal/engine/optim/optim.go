// Package optim updates parameters from their gradients: SGD, Adam, AdamW,
// learning-rate schedules and clipping. The arithmetic is torch.optim's.
package optim

import (
	"fmt"
	"math"

	"tercet/internal/engine/nn"
)

// Optimizer owns the state that belongs to a fixed list of parameters.
type Optimizer interface {
	// Step updates all trained parameters in place from their gradients, with
	// learning rate lr. Gradients stay as they are.
	Step(lr float64)
	// Steps returns the number of steps done.
	Steps() int64
	// State returns the state arrays in a fixed order. They are the live ones: copy
	// or write them before the next Step.
	State() []NamedState
	// Restore replaces the state by a saved one, so that the next Step is
	// bit-identical to what it would have been. The names and sizes must be those
	// of State; on an error nothing has changed.
	Restore(steps int64, state []NamedState) error
}

// NamedState is one array of an optimizer, named "<kind>/<parameter>", such as
// "exp_avg/conv1.weight".
type NamedState struct {
	Name  string
	Shape []int
	Data  []float32
}

// Config selects an optimizer. Beta1, Beta2 and Eps all zero mean PyTorch's
// defaults; a beta of 0 beside an Eps is that beta: no running mean.
type Config struct {
	Name         string  // sgd, adam or adamw
	Momentum     float64 // sgd: 0 for none; dampening is 0
	Nesterov     bool    // sgd
	Beta1, Beta2 float64 // adam, adamw: 0.9, 0.999
	Eps          float64 // adam, adamw: 1e-8, added to sqrt(v)
	WeightDecay  float64
	Decay        string // l2: added to the gradient; decoupled: p *= 1 - lr*WeightDecay. Default: l2, decoupled for adamw
	DecayAll     bool   // also decay biases and batch norm, as torch.optim does
}

// Names lists the optimizers.
func Names() []string { return []string{"sgd", "adam", "adamw"} }

// New returns an optimizer of params; buffers among them are left alone.
func New(c Config, params []*nn.Param) (Optimizer, error) {
	if c.Beta1 == 0 && c.Beta2 == 0 && c.Eps == 0 {
		c.Beta1, c.Beta2, c.Eps = 0.9, 0.999, 1e-8
	}
	if c.Decay == "" {
		c.Decay = "l2"
		if c.Name == "adamw" {
			c.Decay = "decoupled"
		}
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	s := state{cfg: c}
	for _, p := range params {
		if p.Trained() {
			s.params = append(s.params, p)
		}
	}
	s.spans.cut(s.params)
	if c.Name == "sgd" {
		return newSGD(s), nil
	}
	return newAdam(s), nil
}

func (c *Config) check() error {
	switch c.Name {
	case "sgd", "adam", "adamw":
	default:
		return fmt.Errorf("unknown optimizer %q: known are sgd, adam, adamw", c.Name)
	}
	for _, v := range []struct {
		what   string
		x, top float64
	}{{"momentum", c.Momentum, 1}, {"beta1", c.Beta1, 1}, {"beta2", c.Beta2, 1}, {"eps", c.Eps, math.Inf(1)}, {"weight decay", c.WeightDecay, math.Inf(1)}} {
		if !(v.x >= 0 && v.x < v.top) {
			return fmt.Errorf("optimizer %s: %s %v is not in [0, %v)", c.Name, v.what, v.x, v.top)
		}
	}
	if c.Name != "sgd" && c.Eps == 0 {
		return fmt.Errorf("optimizer %s: eps 0 divides by zero; give all of betas and eps, or none", c.Name)
	}
	if c.Name != "sgd" && (c.Momentum != 0 || c.Nesterov) {
		return fmt.Errorf("optimizer %s: momentum and nesterov belong to sgd", c.Name)
	}
	if c.Nesterov && c.Momentum == 0 {
		return fmt.Errorf("optimizer sgd: nesterov needs a momentum above 0")
	}
	switch c.Decay {
	case "l2", "decoupled":
	default:
		return fmt.Errorf("optimizer %s: unknown weight decay %q: known are l2, decoupled", c.Name, c.Decay)
	}
	if c.Name == "adamw" && c.Decay == "l2" {
		return fmt.Errorf("optimizer adamw: its weight decay is decoupled; use adam for l2")
	}
	return nil
}

// state is what all optimizers share.
type state struct {
	cfg    Config
	params []*nn.Param
	spans  spans
	steps  int64
	arrays []NamedState
}

// track makes one zeroed state array for each parameter.
func (s *state) track(kind string) [][]float32 {
	out := make([][]float32, len(s.params))
	for i, p := range s.params {
		out[i] = make([]float32, len(p.Value.Data))
		s.arrays = append(s.arrays, NamedState{Name: kind + "/" + p.Name, Shape: p.Value.Shape, Data: out[i]})
	}
	return out
}

func (s *state) Steps() int64 { return s.steps }

func (s *state) State() []NamedState { return s.arrays }

func (s *state) Restore(steps int64, saved []NamedState) error {
	if steps < 0 {
		return fmt.Errorf("optimizer %s: saved state counts %d steps", s.cfg.Name, steps)
	}
	byName := make(map[string][]float32, len(saved))
	for _, a := range saved {
		if _, twice := byName[a.Name]; twice {
			return fmt.Errorf("optimizer %s: saved state holds %s twice", s.cfg.Name, a.Name)
		}
		byName[a.Name] = a.Data
	}
	for _, a := range s.arrays {
		d, ok := byName[a.Name]
		if !ok {
			return fmt.Errorf("optimizer %s: saved state has no %s: it belongs to another model or optimizer", s.cfg.Name, a.Name)
		}
		if len(d) != len(a.Data) {
			return fmt.Errorf("optimizer %s: saved %s holds %d numbers, the model wants %d", s.cfg.Name, a.Name, len(d), len(a.Data))
		}
	}
	if len(saved) != len(s.arrays) {
		return fmt.Errorf("optimizer %s: saved state has %d arrays, the model wants %d", s.cfg.Name, len(saved), len(s.arrays))
	}
	for _, a := range s.arrays {
		copy(a.Data, byName[a.Name])
	}
	s.steps = steps
	return nil
}

// decay splits the weight decay of p into the L2 coefficient, added to the
// gradient, and the factor of the decoupled one.
func (s *state) decay(p *nn.Param, lr float64) (l2, keep float32) {
	if s.cfg.WeightDecay == 0 || !(p.Decay || s.cfg.DecayAll) {
		return 0, 1
	}
	if s.cfg.Decay == "decoupled" {
		return 0, float32(1 - lr*s.cfg.WeightDecay)
	}
	return float32(s.cfg.WeightDecay), 1
}
