package base

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/text"
)

// Plan prints what the variants would do.
func Plan(ctx context.Context, s *Streams, variants []*config.Config) error {
	doc := printed.Plan{Schema: record.PlanSchema}
	for _, v := range variants {
		p, err := run.MakePlan(ctx, v)
		if err != nil {
			return err
		}
		doc.Runs = append(doc.Runs, p)
	}
	return s.Result(doc, func(w io.Writer) error {
		var b strings.Builder
		var total float64
		for _, p := range doc.Runs {
			writePlan(&b, p)
			total += p.Seconds
		}
		if len(doc.Runs) > 1 {
			fmt.Fprintf(&b, "%d runs, about %s in all\n", len(doc.Runs), text.Duration(total))
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writePlan(b *strings.Builder, p *printed.PlannedRun) {
	d := p.Data
	fmt.Fprintf(b, "run         %s\n", p.Name)
	held := ""
	if v := d.Validation; v != nil {
		held = fmt.Sprintf("%d validation images of %d classes, ", v.Items, v.Classes)
	}
	fmt.Fprintf(b, "data        %s: %d training images of %d classes, %s%d test images of %d classes, %dx%dx%d\n",
		d.Name, d.Train.Items, d.Train.Classes, held, d.Test.Items, d.Test.Classes, d.Train.Shape[0], d.Train.Shape[1], d.Train.Shape[2])
	fmt.Fprintf(b, "model       %s, embedding %d, %d parameters\n", p.Model.Name, p.Model.Embedding, p.Model.Parameters)
	if m := p.Metric; m != nil {
		writeMetricPlan(b, p, m)
		return
	}
	batches := ""
	if p.Accumulate > 1 {
		batches = fmt.Sprintf("%d batches of ", p.Accumulate)
	}
	fmt.Fprintf(b, "steps       %d of %s%d images (%d an epoch)\n", p.Steps, batches, p.BatchRows, p.PerEpoch)
	fmt.Fprintf(b, "coverage    %s\n", p.Coverage)
	most := ""
	if p.AtMost { // what need not be crafted is known when there is a network
		most = "at most "
	}
	fmt.Fprintf(b, "defense     %s\n", p.Defense)
	fmt.Fprintf(b, "passes      "+most+"%d images forward, %d backward, %.3g GFLOP of products\n", p.Passes.Forward, p.Passes.Backward, p.FLOPs/1e9)
	fmt.Fprintf(b, "memory      about %.0f MiB without the data; checkpoint %.1f MiB\n", float64(p.Memory)/(1<<20), float64(p.Checkpoint)/(1<<20))
	if most == "" {
		most = "about "
	}
	fmt.Fprintf(b, "time        "+most+"%s (%.1f ms a step, timed here), without evaluation\n", text.Duration(p.Seconds), 1e3*p.StepTime)
}

// writeMetricPlan is the rest of the plan of a metric that is fitted.
func writeMetricPlan(b *strings.Builder, p *printed.PlannedRun, m *printed.PlannedFit) {
	fmt.Fprintf(b, "triplets    %.4g, %s as positives\n", m.Triplets, text.Plural(m.Classes, "class", "classes"))
	steps := ""
	if p.Steps > 0 {
		steps = fmt.Sprintf(", %s", text.Plural(p.Steps, "step", "steps"))
	}
	fmt.Fprintf(b, "fit         %s, %s%s\n", m.Algorithm, m.Loss, steps)
	fmt.Fprintf(b, "time        %s for the risk and its gradient, timed here; rrm takes some ten to a hundred\n", text.Duration(m.Evaluation))
}
