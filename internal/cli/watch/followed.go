package watch

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/train"
)

// followed is a run with what its log has said so far.
type followed struct {
	printed.SweptRun
	name string
	log  train.Follower

	steps, epochs render.Series // the loss of logged steps, and the mean loss of epochs
	score         render.Series
	scoreName     string
	step          int          // of the last event; the manifest is older
	last          record.Event // the last one that says how fast it is
	bestScore     float64      // of evaluations so far
	bestStep      int          // 0 for none
	unread        error        // the log cannot be read
}

func follow(dir string) *followed {
	f := &followed{SweptRun: printed.SweptRun{Dir: dir}, log: train.Follower{Path: filepath.Join(dir, "events.jsonl")}}
	f.name = text.Visible(f.base())
	return f
}

// base is the name of the run's directory, also of ".".
func (f *followed) base() string {
	if abs, err := filepath.Abs(f.Dir); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(f.Dir)
}

// name names a new run, and those that share the name of its directory, by their paths.
func (v *view) name(f *followed) {
	for _, other := range v.runs {
		if other != f && other.base() == f.base() {
			f.name, other.name = text.Visible(f.Dir), text.Visible(other.Dir)
		}
	}
}

// read takes in what is new in the log. Of a log that was written again, as resuming does,
// what was told before is not told once more.
func (f *followed) read(tell func(e *record.Event)) error {
	var fresh []*record.Event
	again := false
	err := f.log.Next(func() {
		again = true
		f.steps, f.epochs, f.score, f.bestStep, f.step = render.Series{}, render.Series{}, render.Series{}, 0, 0
	}, func(e *record.Event) {
		f.take(e)
		if again && (e.Kind == "resume" || e.Kind == "start") {
			fresh = nil
		}
		fresh = append(fresh, e)
	})
	for _, e := range fresh {
		tell(e)
	}
	return err
}

func (f *followed) take(e *record.Event) {
	switch e.Kind {
	case "step":
		if e.Loss != nil {
			f.steps.Add(float64(e.Step), *e.Loss)
		}
	case "epoch":
		if e.Loss != nil {
			f.epochs.Add(float64(e.Step), *e.Loss)
		}
	case "eval":
		if key := scoreOf(e); key != "" {
			f.scoreName = key
			f.score.Add(float64(e.Step), e.Metrics[key])
			if e.Best {
				f.bestScore, f.bestStep = e.Metrics[key], e.Step
			}
		}
	}
	if f.step = max(f.step, e.Step); e.Rate > 0 {
		f.last = *e
	}
}

// best is the best score so far, with its name if one is given; "" for none.
func (f *followed) best(name string) string {
	if f.bestStep == 0 {
		return ""
	}
	return fmt.Sprintf("best %s%.4g at step %d", strings.TrimLeft(name+" ", " "), f.bestScore, f.bestStep)
}

// loss is the curve that is drawn: of logged steps, or of epochs where the log has more of
// these, as that of a short run.
func (f *followed) loss() render.Series {
	if len(f.epochs.X) > len(f.steps.X) {
		return f.epochs
	}
	return f.steps
}

// scoreOf is the score of an evaluation that is drawn: recall@1, or else the first.
func scoreOf(e *record.Event) string {
	if _, ok := e.Metrics["recall@1"]; ok {
		return "recall@1"
	}
	for _, key := range slices.Sorted(maps.Keys(e.Metrics)) {
		return key
	}
	return ""
}

// line says in words what an event tells; "" for one that is not worth a line.
func (f *followed) line(e *record.Event) string {
	at := fmt.Sprintf("%s: step %d of %d", f.name, e.Step, f.Of)
	switch e.Kind {
	case "epoch":
		if e.Loss != nil {
			return fmt.Sprintf("%s, epoch %.4g, loss %.4g%s", at, e.Epoch, *e.Loss, text.After(", ", f.pace()))
		}
	case "eval":
		out := lists.Map(slices.Sorted(maps.Keys(e.Metrics)), func(key string) string { return fmt.Sprintf("%s %.4g", key, e.Metrics[key]) })
		mark := ""
		if e.Best {
			mark = " (best so far)"
		}
		return fmt.Sprintf("%s, %s images: %s%s", at, e.Split, strings.Join(out, ", "), mark)
	case "start", "resume":
		return fmt.Sprintf("%s: %s at step %d", f.name, e.Kind, e.Step)
	case "stop":
		return fmt.Sprintf("%s: stopped at step %d: %s", f.name, e.Step, e.Reason)
	}
	return ""
}

// pace is the speed of the run and the time that it needs still.
func (f *followed) pace() string {
	e := f.last
	if e.Rate <= 0 || f.Status != printed.InTraining {
		return ""
	}
	out := fmt.Sprintf("%.3g images/s", e.Rate)
	if len(f.steps.X) > 1 && e.Seconds > 0 && f.Of > e.Step {
		out += fmt.Sprintf(", about %s left", text.Duration(e.Seconds/float64(e.Step)*float64(f.Of-e.Step)))
	}
	return out
}
