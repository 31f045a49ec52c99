package train

import (
	"context"
	"fmt"
	"time"
)

// window sums what is logged as a mean since the last logged step. It starts
// afresh when a run is resumed: means in the log may differ there, weights not.
type window struct {
	steps, tuples, active, fallback int
	easy, semihard, hard            int
	loss, penalty, positive         float64
	negative                        float64
	images                          int
	crafted                         *Crafted
	since                           time.Time
}

// observe updates the log's means, checks for collapse, and logs the step when
// it is due.
func (t *Trainer) observe(r stepResult) error {
	w := &t.window
	if w.steps == 0 {
		w.since = time.Now()
	}
	w.steps++
	w.tuples += r.loss.Tuples
	w.active += r.loss.Active
	w.fallback += r.mined.Fallback
	w.easy, w.semihard, w.hard = w.easy+r.mined.Easy, w.semihard+r.mined.Semihard, w.hard+r.mined.Hard
	w.loss += r.loss.Loss
	w.penalty += r.penalty
	w.positive += r.loss.Positive
	w.negative += r.loss.Negative
	w.images += r.images
	if t.Progress != nil {
		t.Progress(&t.State, w.loss/float64(w.steps))
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
	if check && t.Collapse.judge(s, active, t.State.Step, &t.State.Collapsed) {
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
	n := float64(w.steps)
	e := t.event("step")
	e.Loss = num(w.loss / n)
	if w.penalty != 0 {
		e.Penalty = num(w.penalty / n)
	}
	e.LR, e.GradNorm = num(r.lr), num(r.norm)
	e.Tuples, e.Active = w.tuples/w.steps, num(ratio(w.active, w.tuples))
	e.Positive, e.Negative = num(w.positive/n), num(w.negative/n)
	kinds := w.easy + w.semihard + w.hard
	e.Easy, e.Semihard, e.Hard = num(ratio(w.easy, kinds)), num(ratio(w.semihard, kinds)), num(ratio(w.hard, kinds))
	e.Fallback = w.fallback
	e.Cosine, e.Rank = num(s.Cosine), num(s.Rank)
	e.Crafted = w.crafted
	if d := time.Since(w.since).Seconds(); d > 0 && w.steps > 1 {
		e.Rate = float64(w.images) / d * float64(w.steps) / float64(w.steps-1) * (n - 1) / n
	}
	*w = window{}
	return t.Log(e)
}

// endEpoch logs the epoch, evaluates when that is due, keeps the best
// checkpoint and decides on stopping early.
func (t *Trainer) endEpoch(ctx context.Context) error {
	e := t.event("epoch")
	mean := t.State.EpochLoss / float64(max(t.State.EpochSeen, 1))
	e.Loss = num(mean)
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
		var err error
		// Not interruptible: a checkpoint between an epoch's last step and its
		// evaluation would resume to other decisions.
		if metrics, err = t.Evaluate(context.WithoutCancel(ctx)); err != nil {
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
	best := t.State.Best == nil || t.Stop.better(value, *t.State.Best)
	if best {
		t.State.Best, t.State.BestStep, t.State.Stale = num(value), t.State.Step, 0
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
func (t *Trainer) event(kind string) *Event {
	return &Event{
		Kind: kind, Step: t.State.Step, Epoch: float64(t.State.Step) / float64(max(t.StepsPerEpoch, 1)),
		Forward: t.State.Cost.Forward, Backward: t.State.Cost.Backward,
		Seconds: time.Since(t.start).Seconds(),
	}
}

func num(v float64) *float64 { return &v }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
