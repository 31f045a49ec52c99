package attack

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/cli/base"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/summary"
	"tercet/internal/text"
)

// AttackTable has a row for each score, published beside fixed.
func AttackTable(d *record.Attack) *render.Table {
	var list []summary.AttackScores
	for _, v := range d.Options.Variants {
		s := summary.AttackScores{Variant: v, Scores: d.Scores[v], Clean: d.Clean[v]}
		if r, ok := d.RightWhenClean[v]; ok {
			s.Right, s.RightQueries = r.Scores, r.Queries
		}
		list = append(list, s)
	}
	t := summary.AttackTable(fmt.Sprintf("%s: %s of %d, %s", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, budget(d.Options, true)), list)
	t.Notes = append(t.Notes, notes(d)...)
	base.LabelSource(t, d.Source)
	return t
}

// budget says what the attacker could do.
func budget(o record.AttackOptions, eps bool) string {
	var b strings.Builder
	b.WriteString(o.Norm)
	if eps {
		b.WriteString(" eps " + text.Eps(o.Norm, o.Eps))
	}
	size := "of automatic size"
	if o.Rule != "auto" {
		size = "of " + text.Eps(o.Norm, o.Step)
		if !eps {
			size = "of at most " + text.Eps(o.Norm, o.Step)
		}
	}
	fmt.Fprintf(&b, ", %s %s", text.Plural(o.Iterations, "step", "steps"), size)
	if o.Direction == "normalized" {
		b.WriteString(" of the normalized gradient")
	}
	if o.Start == "random" {
		b.WriteString(", random start")
	}
	if o.Restarts > 1 {
		fmt.Fprintf(&b, ", best of %d runs", o.Restarts)
	}
	if o.Keep == "best" {
		b.WriteString(", best iterate")
	}
	return b.String()
}

// notes says how far images were moved, what was shared and what it took.
func notes(d *record.Attack) []string {
	var crafted, shared int
	var zero, linf, largest, l2 float64
	for _, a := range d.Attacks {
		n := float64(a.Crafted)
		crafted, shared = crafted+a.Crafted, shared+a.Shared
		zero, linf, l2 = zero+float64(n*a.ZeroGradient), linf+float64(n*a.Radius.MeanLinf), l2+float64(n*a.Radius.MeanL2)
		largest = max(largest, a.Radius.MaxLinf)
	}
	var out []string
	if d.Gallery > 0 {
		out = append(out, fmt.Sprintf("queries are searched for in a gallery of %s; CA perturbs images of the gallery", text.Plural(d.Gallery, "image", "images")))
	}
	if crafted > 0 {
		n := float64(crafted)
		out = append(out, fmt.Sprintf("perturbations: mean |delta|inf %.4f, largest %.4f; mean |delta|2 %.3f; vanished gradients %.1f %%", linf/n, largest, l2/n, 100*zero/n))
	} else {
		out = append(out, "eps is 0: the images are as they are, and nothing was crafted")
	}
	if d.Options.Draws > 1 && slices.ContainsFunc(d.Options.Attacks, func(a string) bool { return slices.Contains(attack.Users(attack.Draws), a) }) {
		out = append(out, fmt.Sprintf("random targets: means of %d draws", d.Options.Draws))
	}
	cost := "cost: " + text.Plural(crafted, "image", "images") + " crafted"
	if shared > 0 {
		cost += fmt.Sprintf(", %d of them for both variants", shared)
	}
	return append(out, cost+fmt.Sprintf("; %d images forward, %d backward, %s", d.Cost.Forward, d.Cost.Backward, text.Duration(d.Cost.Seconds)))
}

// curveTable has a row for each score and variant and a column for each eps;
// intervals are in curve.json.
func curveTable(d *record.Curve) *render.Table {
	o := d.Options
	t := &render.Table{
		Title:   fmt.Sprintf("%s: scores against eps, %s of %d, %s", d.Source.Run, text.Plural(d.Queries, "query", "queries"), d.Source.Items, budget(o, false)),
		Columns: []render.Column{{Name: "score"}, {Name: "variant"}},
		Notes: []string{
			"intervals are in curve.json",
			fmt.Sprintf("cost: %d images forward, %d backward, %s", d.Cost.Forward, d.Cost.Backward, text.Duration(d.Cost.Seconds)),
		},
	}
	for _, p := range d.Points {
		name := text.Eps(o.Norm, p.Eps)
		if o.Norm == "linf" && p.Eps > 0 {
			name = fmt.Sprintf("%.6g/255", 255*p.Eps)
		}
		t.Columns = append(t.Columns, render.Column{Name: name})
	}
	for _, key := range attack.Keys(o.Attacks) {
		for _, v := range o.Variants {
			row := []render.Cell{summary.AttackUnit(key, render.Text(key)), render.Text(v)}
			for _, p := range d.Points {
				c := render.Missing()
				if s, ok := p.Scores[v].Get(key); ok {
					c = summary.AttackUnit(key, render.Number(s.Value))
				}
				row = append(row, c)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	base.LabelSource(t, d.Source)
	return t
}

// unreached says that steps of a fixed size do not lead out of the middle of the
// ball; "" if they do.
func unreached(o record.AttackOptions) string {
	reach := float64(o.Iterations) * o.Step
	if o.Rule != "fixed" || o.Start != "clean" || o.Restarts > 1 || o.Norm == "linf" && o.Direction != "sign" || reach >= o.Eps*(1-1e-9) {
		return ""
	}
	return fmt.Sprintf("%d steps of %s reach %s at most: the ball of %s is not used to its end", o.Iterations, text.Eps(o.Norm, o.Step), text.Eps(o.Norm, reach), text.Eps(o.Norm, o.Eps))
}
