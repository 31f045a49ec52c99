package tracker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/train"
)

// Point is a number that a run has measured at a step.
type Point struct {
	Tag     string // such as train/loss, validation/recall@1 or result/map@r
	Step    int
	Epoch   float64
	Seconds float64 // of training until then, over all sessions
	Value   float64
}

// logged are the numbers of an event "step".
var logged = []struct {
	tag string
	of  func(e *record.Event) *float64
}{
	{"train/loss", func(e *record.Event) *float64 { return e.Loss }},
	{"train/penalty", func(e *record.Event) *float64 { return e.Penalty }},
	{"train/lr", func(e *record.Event) *float64 { return e.LR }},
	{"train/active", func(e *record.Event) *float64 { return e.Active }},
	{"train/easy", func(e *record.Event) *float64 { return e.Easy }},
	{"train/semihard", func(e *record.Event) *float64 { return e.Semihard }},
	{"train/hard", func(e *record.Event) *float64 { return e.Hard }},
	{"train/d_positive", func(e *record.Event) *float64 { return e.Positive }},
	{"train/d_negative", func(e *record.Event) *float64 { return e.Negative }},
	{"train/grad_norm", func(e *record.Event) *float64 { return e.GradNorm }},
	{"train/cosine", func(e *record.Event) *float64 { return e.Cosine }},
	{"train/effective_rank", func(e *record.Event) *float64 { return e.Rank }},
	{"crafted/mean_linf", func(e *record.Event) *float64 {
		return ofCrafted(e, func(c *record.Crafted) *float64 { return &c.MeanLinf })
	}},
	{"crafted/max_linf", func(e *record.Event) *float64 {
		return ofCrafted(e, func(c *record.Crafted) *float64 { return &c.MaxLinf })
	}},
	{"crafted/hardness", func(e *record.Event) *float64 {
		return ofCrafted(e, func(c *record.Crafted) *float64 { return c.Achieved })
	}},
	{"crafted/wanted_hardness", func(e *record.Event) *float64 {
		return ofCrafted(e, func(c *record.Crafted) *float64 { return c.Wanted })
	}},
}

func ofCrafted(e *record.Event, of func(*record.Crafted) *float64) *float64 {
	if e.Crafted == nil {
		return nil
	}
	return of(e.Crafted)
}

// eventPoints are the numbers of an event, in a fixed order; before is the time of sessions
// before the present one.
func eventPoints(e *record.Event, before float64) (out []Point) {
	add := func(tag string, v *float64) {
		if v != nil {
			out = append(out, Point{tag, e.Step, e.Epoch, before + e.Seconds, *v})
		}
	}
	switch e.Kind {
	case "step":
		for _, l := range logged {
			add(l.tag, l.of(e))
		}
	case "epoch":
		add("epoch/loss", e.Loss)
	case "eval":
		split := e.Split
		if split == "" { // logs of older versions do not say
			split = "eval"
		}
		for _, key := range slices.Sorted(maps.Keys(e.Metrics)) {
			v := e.Metrics[key]
			add(split+"/"+key, &v)
		}
	}
	return out
}

// EachPoint calls f with the numbers of a run's log and then with its results, of the step
// that they are of. A run without a log has its results alone.
func EachPoint(r *rundir.Run, f func(Point)) error {
	before, last, epochs := 0.0, 0.0, 0.0 // epochs of a step
	err := train.EachEvent(filepath.Join(r.Dir, "events.jsonl"), func(e *record.Event) {
		if e.Kind == "resume" {
			before, last = before+last, 0
		}
		if last = max(last, e.Seconds); e.Step > 0 {
			epochs = e.Epoch / float64(e.Step)
		}
		for _, p := range eventPoints(e, before) {
			f(p)
		}
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", rundir.ErrRun, err)
	}
	for _, kind := range rundir.Kinds() {
		from, ok := r.From(kind)
		if !ok {
			continue
		}
		for _, s := range r.Only(kind).Scores() {
			f(Point{"result/" + s.Key, from.Step, epochs * float64(from.Step), r.Manifest.Seconds, s.Value.Value})
		}
	}
	return nil
}

// begin is when training began, in seconds since 1970; 0 where the manifest does not say.
func begin(r *rundir.Run) float64 {
	at, err := time.Parse(time.RFC3339, r.Manifest.Started)
	if err != nil {
		return 0
	}
	return float64(at.Unix())
}
