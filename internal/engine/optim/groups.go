package optim

import "tercet/internal/engine/nn"

// Group is parameters with a learning rate and a weight decay of their own.
type Group struct {
	Params      []*nn.Param
	Rate        float64  // learning rate as a multiple of the schedule's
	WeightDecay *float64 // nil: the config's
	// From is the step, counted from 0, at which the group begins to train: an optimizer
	// of its own, whose first step that is.
	From int64
}

// NewGroups returns one optimizer of several groups. It is New of the parameters of all,
// where there is one group without values of its own.
func NewGroups(c Config, groups []Group) (Optimizer, error) {
	if len(groups) == 1 && groups[0].Rate == 1 && groups[0].WeightDecay == nil && groups[0].From == 0 {
		return New(c, groups[0].Params)
	}
	o := &grouped{name: c.Name, groups: groups}
	for _, g := range groups {
		own := c
		if g.WeightDecay != nil {
			own.WeightDecay = *g.WeightDecay
		}
		part, err := New(own, g.Params)
		if err != nil {
			return nil, err
		}
		o.parts = append(o.parts, part)
	}
	return o, nil
}

// grouped is an optimizer for each group.
type grouped struct {
	name   string
	groups []Group
	parts  []Optimizer
	steps  int64
}

func (o *grouped) Step(lr float64) {
	for i, g := range o.groups {
		if o.steps >= g.From {
			o.parts[i].Step(lr * g.Rate)
		}
	}
	o.steps++
}

func (o *grouped) Steps() int64 { return o.steps }

func (o *grouped) State() []NamedState {
	var out []NamedState
	for _, p := range o.parts {
		out = append(out, p.State()...)
	}
	return out
}

func (o *grouped) Restore(steps int64, saved []NamedState) error {
	// The arrays of all groups are the live ones: restoring them restores the groups.
	all := state{cfg: Config{Name: o.name}, arrays: o.State()}
	if err := all.Restore(steps, saved); err != nil {
		return err
	}
	o.steps = steps
	for i, g := range o.groups {
		own := o.parts[i].State()
		if err := o.parts[i].Restore(max(0, steps-g.From), own); err != nil {
			return err
		}
	}
	return nil
}
