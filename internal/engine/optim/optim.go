package optim

import (
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/pages"
	"tercet/internal/names"
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

// Family is the optimizers that a config can name. An optimizer registers itself in
// its file.
var Family = component.NewFamily[Keys]("adam", "adamw", "sgd")

// Keys are the keys of an optimizer in a config.
type Keys interface {
	// make returns the optimizer of checked keys.
	make(s state) Optimizer
}

// Fitter is implemented by keys that ask something of the keys that all optimizers
// have.
type Fitter interface {
	Fit(Config) []component.Fault
}

// Config selects an optimizer.
type Config struct {
	Name        string // sgd, adam or adamw
	Keys        Keys   // nil: the defaults of that name
	WeightDecay float64
	Decay       string // l2: added to the gradient; decoupled: p *= 1 - lr*WeightDecay. Default: l2, decoupled for adamw
	DecayAll    bool   // also decay biases and batch norm, as torch.optim does
}

// New returns an optimizer of params; buffers among them are left alone.
func New(c Config, params []*nn.Param) (Optimizer, error) {
	known, ok := Family.Lookup(c.Name)
	if !ok {
		return nil, fmt.Errorf("unknown optimizer %q; %s", c.Name, names.Unknown(c.Name, Family.Names()))
	}
	if c.Keys == nil {
		c.Keys = known.Defaults
	}
	if c.Decay == "" {
		c.Decay = "l2"
		if d, ok := known.Preset["decay"]; ok {
			c.Decay = d.(string)
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
	return c.Keys.make(s), nil
}

func (c *Config) check() error {
	prefix := "optimizer " + c.Name
	if err := component.Err(prefix, c.Keys); err != nil {
		return err
	}
	if !(c.WeightDecay >= 0) || math.IsInf(c.WeightDecay, 0) {
		return fmt.Errorf("%s: weight decay %v is not a number from 0", prefix, c.WeightDecay)
	}
	switch c.Decay {
	case "l2", "decoupled":
	default:
		return fmt.Errorf("%s: unknown weight decay %q (valid: l2, decoupled)", prefix, c.Decay)
	}
	if f, ok := c.Keys.(Fitter); ok {
		if list := f.Fit(*c); len(list) > 0 {
			return fmt.Errorf("%s: %s: %s", prefix, list[0].Key, list[0].Msg)
		}
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
		out[i] = pages.Make[float32](len(p.Value.Data))
		s.arrays = append(s.arrays, NamedState{Name: kind + "/" + p.Name, Shape: p.Value.Shape, Data: out[i]})
	}
	return out
}

func (s *state) Steps() int64 { return s.steps }

func (s *state) State() []NamedState {
	s.fetch()
	return s.arrays
}

// fetch makes the arrays in memory the newer ones where a device keeps them.
func (s *state) fetch() {
	if len(s.params) == 0 {
		return // the arrays of several optimizers, which have fetched them: see grouped
	}
	for i := range s.arrays {
		if p := s.params[i%len(s.params)]; p.Store != nil {
			p.Store.FetchState(s.arrays[i].Data)
		}
	}
}

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
			return fmt.Errorf("optimizer %s: saved %s holds %d numbers, the model needs %d", s.cfg.Name, a.Name, len(d), len(a.Data))
		}
	}
	if len(saved) != len(s.arrays) {
		return fmt.Errorf("optimizer %s: saved state has %d arrays, the model needs %d", s.cfg.Name, len(saved), len(s.arrays))
	}
	s.fetch()
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
		return 0, float32(1 - float64(lr*s.cfg.WeightDecay))
	}
	return float32(s.cfg.WeightDecay), 1
}
