package train

import (
	"fmt"

	"tercet/internal/engine/kernel"
	"tercet/internal/safetensors"
)

// check returns what cannot be so in any run, in words.
func (s *State) check() error {
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"step", int64(s.Step)}, {"epoch_seen", int64(s.EpochSeen)}, {"best_step", int64(s.BestStep)}, {"stale", int64(s.Stale)},
		{"collapsed", int64(s.Collapsed)}, {"cost.forward", s.Cost.Forward}, {"cost.backward", s.Cost.Backward},
	} {
		if n.value < 0 {
			return fmt.Errorf("state: %s is %d; want 0 or more", n.key, n.value)
		}
	}
	if p := s.Plateau; p != nil && (p.Bad < 0 || p.Cooldown < 0 || p.Drops < 0) {
		return fmt.Errorf("state: plateau counts %d, %d and %d; want 0 or more", p.Bad, p.Cooldown, p.Drops)
	}
	if s.EpochSeen > s.Step || s.BestStep > s.Step || s.Window != nil && (s.Window.Steps < 1 || s.Window.Steps > s.Step) {
		return fmt.Errorf("state: more steps are counted than the %d done", s.Step)
	}
	return nil
}

// fits returns what cannot be so in a run of these lengths, in words. steps is the
// optimizer's count.
func (s *State) fits(o Options, steps int64) error {
	if s.Step > o.Steps {
		return fmt.Errorf("state: step %d lies behind the run's end, step %d", s.Step, o.Steps)
	}
	if steps != int64(s.Step) {
		return fmt.Errorf("optim.steps is %d and state: step %d; they are the same in a run", steps, s.Step)
	}
	if o.StepsPerEpoch < 1 {
		return nil
	}
	// 0 is the count at a run's end, too, which may lie within an epoch.
	if seen := s.Step % o.StepsPerEpoch; s.EpochSeen != seen && s.EpochSeen != 0 {
		return fmt.Errorf("state: epoch_seen is %d at step %d; with %d steps an epoch it is %d", s.EpochSeen, s.Step, o.StepsPerEpoch, seen)
	}
	return nil
}

// finiteTensors returns an error when a number of a checkpoint is not finite: no
// checkpoint is written then.
func finiteTensors(tensors []safetensors.Tensor) error {
	for _, t := range tensors {
		if i, ok := kernel.AllFinite(t.Data); !ok {
			return fmt.Errorf("tensor %s is %v at index %d; all numbers of a checkpoint are finite", t.Name, t.Data[i], i)
		}
	}
	return nil
}
