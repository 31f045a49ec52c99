package train

import (
	"context"
	"fmt"
	"time"

	"tercet/internal/record"
)

// window sums what is logged as a mean since the last logged step. It is part of the
// checkpoint, so that the log of a resumed run is that of an undisturbed one.
type window struct {
	Steps    int             `json:"steps"`
	Tuples   int             `json:"tuples"`
	Active   int             `json:"active"`
	Fallback int             `json:"fallback"`
	Easy     int             `json:"easy"`
	Semihard int             `json:"semihard"`
	Hard     int             `json:"hard"`
	Loss     float64         `json:"loss"`
	Penalty  float64         `json:"penalty"`
	Positive float64         `json:"positive"`
	Negative float64         `json:"negative"`
	Crafted  *record.Crafted `json:"crafted,omitempty"`
}

// add puts one more step into the sums.
func (w *window) add(r stepResult) {
	w.Steps++
	w.Tuples += r.loss.Tuples
	w.Active += r.loss.Active
	w.Fallback += r.mined.Fallback
	w.Easy, w.Semihard, w.Hard = w.Easy+r.mined.Easy, w.Semihard+r.mined.Semihard, w.Hard+r.mined.Hard
	w.Loss += r.loss.Loss
	w.Penalty += r.penalty
	w.Positive += r.loss.Positive
	w.Negative += r.loss.Negative
}

// pace measures how fast this process trains since the last logged step.
type pace struct {
	steps, images int
	since         time.Time
}

// add counts a step that has just ended.
func (p *pace) add(images int) {
	if p.steps == 0 { // the time of this step is not known
		p.since = time.Now()
	} else {
		p.images += images
	}
	p.steps++
}

// rate returns images per second; 0 where only one step is known.
func (p *pace) rate() float64 {
	if d := time.Since(p.since).Seconds(); d > 0 && p.steps > 1 {
		return float64(p.images) / d
	}
	return 0
}

// observe updates the log's means, checks for collapse, and logs the step when
// it is due.
func (t *Trainer) observe(r stepResult) error {
	w := &t.window
	w.add(r)
	t.pace.add(r.images)
	if t.Progress != nil {
		t.Progress(&t.State, w.Loss/float64(w.Steps))
	}

	due := t.LogEvery > 0 && (t.State.Step%t.LogEvery == 0 || t.State.Step == 1 || t.State.Step == t.Steps)
	check := t.Collapse.Every > 0 && t.State.Step%t.Collapse.Every == 0
	if !due && !check {
		return nil
	}
	s := t.spread.measure(r.z)
	if due {
		if err := t.logStep(r, s); err != nil {
			return err
		}
	}
	active := ratio(r.loss.Active, r.loss.Tuples)
	if check && t.Collapse.tripped(s, active, t.State.Step, &t.State.Collapsed) {
		e := &CollapseError{Step: t.State.Step, Idle: !t.Collapse.collapsed(s), Spread: s, Active: active, Positive: r.loss.Positive, Negative: r.loss.Negative, Loss: r.loss.Loss, Margin: t.Objective.Margin()}
		stop := t.event("stop")
		stop.Reason, stop.Note = StopCollapse, e.Error()
		if err := t.Log(stop); err != nil {
			return err
		}
		return e
	}
	return nil
}

func (t *Trainer) logStep(r stepResult, s Spread) error {
	w := &t.window
	n := float64(w.Steps)
	e := t.event("step")
	e.Loss = new(w.Loss / n)
	if w.Penalty != 0 {
		e.Penalty = new(w.Penalty / n)
	}
	e.LR, e.GradNorm = new(r.lr), new(r.norm)
	e.Tuples, e.Active = w.Tuples/w.Steps, new(ratio(w.Active, w.Tuples))
	e.Positive, e.Negative = new(w.Positive/n), new(w.Negative/n)
	kinds := w.Easy + w.Semihard + w.Hard
	e.Easy, e.Semihard, e.Hard = new(ratio(w.Easy, kinds)), new(ratio(w.Semihard, kinds)), new(ratio(w.Hard, kinds))
	e.Fallback = w.Fallback
	e.Cosine, e.Rank = new(s.Cosine), new(s.Rank)
	e.Crafted = w.Crafted
	e.Rate = t.pace.rate()
	t.pace = pace{}
	*w = window{}
	return t.Log(e)
}

// endEpoch logs the epoch, evaluates when that is due, keeps the best
// checkpoint and decides on stopping early.
func (t *Trainer) endEpoch(ctx context.Context) error {
	e := t.event("epoch")
	mean := t.State.EpochLoss / float64(max(t.State.EpochSeen, 1))
	e.Loss = new(mean)
	t.State.EpochLoss, t.State.EpochSeen = 0, 0
	if t.Cover != nil {
		e.Coverage = t.Cover((t.State.Step - 1) / t.StepsPerEpoch)
	}
	if err := t.Log(e); err != nil {
		return err
	}
	epoch := (t.State.Step + t.StepsPerEpoch - 1) / t.StepsPerEpoch
	var metrics map[string]float64
	if t.Evaluate != nil && (t.EvalEvery > 0 && epoch%t.EvalEvery == 0 || t.State.Step == t.Steps) {
		// Not interruptible: a checkpoint between an epoch's last step and its
		// evaluation would resume to other decisions.
		if err := t.WithAverage(func() (err error) {
			metrics, err = t.Evaluate(context.WithoutCancel(ctx))
			return err
		}); err != nil {
			return err
		}
	}
	value, ok := mean, t.Stop.Metric == "loss"
	if !ok {
		if metrics == nil {
			return nil
		}
		if value, ok = metrics[t.Stop.Metric]; !ok {
			return fmt.Errorf("early stop: metric %q is not among those evaluated", t.Stop.Metric)
		}
	}
	if metrics != nil {
		if err := t.lookAtPlateau(value); err != nil {
			return err
		}
	}
	best := t.State.Best == nil || t.Stop.better(value, *t.State.Best)
	if best {
		t.State.Best, t.State.BestStep, t.State.Stale = new(value), t.State.Step, 0
	} else {
		t.State.Stale++
		t.State.Stopped = t.Stop.Patience > 0 && t.State.Stale >= t.Stop.Patience
	}
	if metrics != nil {
		e := t.event("eval")
		e.Metrics, e.Best, e.Split = metrics, best, t.Evaluated
		if err := t.Log(e); err != nil {
			return err
		}
	}
	if t.StoppedEarly() {
		e := t.event("stop")
		e.Reason, e.Note = StopEarly, t.StopReason()
		if err := t.Log(e); err != nil {
			return err
		}
	}
	if best {
		return t.Save(true)
	}
	return nil
}

// event returns an event of a kind with the run's position and cost filled in.
func (t *Trainer) event(kind string) *record.Event {
	return &record.Event{
		Kind: kind, Step: t.State.Step, Epoch: float64(t.State.Step) / float64(max(t.StepsPerEpoch, 1)),
		Forward: t.State.Cost.Forward, Backward: t.State.Cost.Backward,
		Seconds: time.Since(t.start).Seconds(),
	}
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
