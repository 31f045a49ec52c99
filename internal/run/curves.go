package run

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"tercet/internal/embed"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/train"
)

// scoreLabel is the axis of scores during training, by the splits that their events name:
// of which images they are. Logs of older versions do not say.
func scoreLabel(splits map[string]bool) string {
	delete(splits, "")
	if len(splits) != 1 {
		return "score"
	}
	return "score, " + slices.Collect(maps.Keys(splits))[0] + " images"
}

// DrawCurves draws a run's events: loss, scores during training, what the miner found
// the distances, and what a defense did, against the step.
func (r *Run) DrawCurves() (string, error) {
	lines, splits := map[string]*render.Series{}, map[string]bool{}
	add := func(name string, step int, v *float64) {
		if v == nil {
			return
		}
		s := lines[name]
		if s == nil {
			s = &render.Series{Name: name}
			lines[name] = s
		}
		s.Add(float64(step), *v)
	}
	err := train.EachEvent(r.Path("events.jsonl"), func(e *record.Event) {
		switch e.Kind {
		case "step":
			add("loss", e.Step, e.Loss)
			add("active tuples", e.Step, e.Active)
			add("anchor to positive", e.Step, e.Positive)
			add("anchor to negative", e.Step, e.Negative)
			add("mean cosine", e.Step, e.Cosine)
			if c := e.Crafted; c != nil {
				add("mean perturbation", e.Step, &c.MeanLinf)
				add("largest perturbation", e.Step, &c.MaxLinf)
				add("hardness achieved", e.Step, c.Achieved)
				add("target hardness", e.Step, c.Wanted)
			}
		case "eval":
			splits[e.Split] = true
			for _, k := range []string{"recall@1", "map@r"} {
				if v, ok := e.Metrics[k]; ok && !math.IsNaN(v) {
					add(k, e.Step, &v)
				}
			}
		}
	})
	if err != nil {
		return "", err
	}
	var panels []render.Panel
	for _, p := range []struct {
		y     string
		names []string
	}{
		{"loss", []string{"loss"}}, {scoreLabel(splits), []string{"recall@1", "map@r"}},
		{"fraction", []string{"active tuples", "mean cosine"}}, {"mean distance", []string{"anchor to positive", "anchor to negative"}},
		{"crafting: size", []string{"mean perturbation", "largest perturbation"}}, {"hardness", []string{"target hardness", "hardness achieved"}},
	} {
		panel := render.Panel{YLabel: p.y}
		for _, n := range p.names {
			if s := lines[n]; s != nil {
				panel.Lines = append(panel.Lines, *s)
			}
		}
		if len(panel.Lines) > 0 {
			panels = append(panels, panel)
		}
	}
	if len(panels) == 0 {
		return "", fmt.Errorf("%s holds no steps yet", r.Path("events.jsonl"))
	}
	dir := r.Path("figures")
	if err := embed.FigureFolder(dir); err != nil {
		return "", err
	}
	base := filepath.Join(dir, "training")
	return base + ".png", render.TrainingCurves(base, r.Manifest.Name, "step", panels)
}
