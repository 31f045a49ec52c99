package train

import (
	"fmt"
	"strings"

	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/text"
	"tercet/internal/train"
)

// view shows training: a bar (or plain lines) over the steps, and a line
// for each evaluation.
type view struct {
	s     *base.Streams
	name  string // of the run, in each line of a sweep; "" for a single run
	bar   *base.Progress
	steps int
}

func (v *view) watch() run.Watch {
	return run.Watch{Step: v.step, Event: v.event, Note: v.note}
}

func (v *view) note(format string, args ...any) {
	v.s.Note("%s", named(v.name, fmt.Sprintf(format, args...)))
}

// named is a note that begins with the name of its run, after the word warning.
func named(name, note string) string {
	if name == "" {
		return note
	}
	warning := ""
	if rest, warns := strings.CutPrefix(note, "warning: "); warns {
		warning, note = "warning: ", rest
	}
	return warning + name + ": " + note
}

func (v *view) step(st *train.State, of int, loss float64) {
	if v.bar == nil {
		v.bar = v.s.Progress(named(v.name, "train"), int64(of))
		v.bar.Resume(int64(st.Step - 1))
		v.steps = st.Step - 1
	}
	v.bar.Add(int64(st.Step-v.steps), "loss %.4f", loss)
	v.steps = st.Step
}

func (v *view) event(e *record.Event) {
	switch e.Kind {
	case "step":
		if v.s.Verbose() {
			v.s.Detail("%s", named(v.name, stepLine(e)))
		}
	case "eval":
		mark := ""
		if e.Best {
			mark = "  " + v.s.PaintNote(base.Good, "best so far")
		}
		v.note("epoch %g, step %d: recall@1 %.4f, MAP@R %.4f on %s images%s", round2(e.Epoch), e.Step, e.Metrics["recall@1"], e.Metrics["map@r"], e.Split, mark)
	case "stop":
		if e.Reason == train.StopEarly && v.bar != nil {
			v.bar.Shorten()
		}
	case "epoch":
		seen := ""
		if c, ok := e.Coverage.(record.Coverage); ok && c.Items > 0 && e.Epoch == float64(int(e.Epoch)) { // whole epochs only
			seen = fmt.Sprintf(", saw %.1f %% of the images", 100*float64(c.Seen)/float64(c.Items))
		}
		v.note("epoch %g, step %d: mean loss %.5f, %s%s", round2(e.Epoch), e.Step, *e.Loss, text.Duration(e.Seconds), seen)
	}
}

// stepLine has what was logged of a step.
func stepLine(e *record.Event) string {
	line := fmt.Sprintf("epoch %g, step %d", round2(e.Epoch), e.Step)
	for _, x := range []struct {
		name   string
		value  *float64
		format string
	}{
		{"loss", e.Loss, "%.5f"}, {"penalty", e.Penalty, "%.5f"}, {"lr", e.LR, "%.3g"}, {"|gradient|", e.GradNorm, "%.3g"}, {"active", e.Active, "%.3f"},
		{"positive", e.Positive, "%.4f"}, {"negative", e.Negative, "%.4f"}, {"cosine", e.Cosine, "%.3f"}, {"rank", e.Rank, "%.1f"},
	} {
		if x.value != nil {
			line += fmt.Sprintf(", %s "+x.format, x.name, *x.value)
		}
	}
	if e.Rate > 0 {
		line += fmt.Sprintf(", %.0f images/s", e.Rate)
	}
	return line
}

// ended says that a run has come to its end, and if that is not its last step, why. name is
// that of a run of a sweep.
func ended(s *base.Streams, dir, name string, m record.Manifest) {
	if m.Stopped != nil {
		s.Note("%s: stopped early at step %d of %d: %s", dir, m.Stopped.Step, m.Of, m.Stopped.Reason)
	}
	s.Note("%s: done in %s", dir, text.Duration(m.Seconds))
	crafted(s, name, m)
}

// crafted says what a run's defense did.
func crafted(s *base.Streams, name string, m record.Manifest) {
	c := m.Crafted
	if c == nil {
		return
	}
	hardness := ""
	if c.Achieved != nil {
		hardness = fmt.Sprintf("; hardness %.3f", *c.Achieved)
	}
	if c.Wanted != nil {
		hardness += fmt.Sprintf(" for a target of %.3f", *c.Wanted)
	}
	s.Note("%s", named(name, fmt.Sprintf("perturbations: mean |delta|inf %.4f (%.1f/255), largest %.4f (%.1f/255)%s; %d images forward, %d backward",
		c.MeanLinf, 255*c.MeanLinf, c.MaxLinf, 255*c.MaxLinf, hardness, m.Cost.Forward, m.Cost.Backward)))
}

// end ends the bar of one run.
func (v *view) end() {
	if v.bar != nil {
		v.bar.Done()
		v.bar = nil
	}
}

func round2(x float64) float64 { return float64(int(float64(x*100)+0.5)) / 100 }
