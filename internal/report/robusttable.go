package report

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// Table has a row for each noise and name.
func (s *NoiseStudy) Table(full bool) *render.Table {
	t := &render.Table{Title: s.kind.title, Columns: []render.Column{{Name: "data"}, {Name: "setting"}, {Name: "noise"}, {Name: "rate"}, {Name: "effective"}, {Name: "name"}, {Name: "n"}}}
	for _, key := range s.Scores {
		t.Columns = append(t.Columns, render.Column{Name: key, Percent: true, Digits: 2, Paper: true})
	}
	for _, key := range s.Scores {
		t.Columns = append(t.Columns, render.Column{Name: "d " + key, Percent: true, Digits: 2, Paper: true})
	}
	t.Columns = append(t.Columns, render.Column{Name: "better"})
	chosen := slices.ContainsFunc(s.Rows, func(r *NoiseRow) bool { return chosenOn(r.runs) != "" })
	if chosen {
		t.Columns = append(t.Columns, render.Column{Name: selectionColumn})
	}
	rows := slices.Clone(s.Rows)
	for i := range s.Contrasts {
		rows = append(rows, s.Contrasts[i].row())
	}
	for _, r := range rows {
		effective := render.Missing()
		if r.Effective > 0 {
			effective = render.Number(r.Effective)
		}
		row := []render.Cell{render.Text(r.Data), render.Text(r.Setting), render.Text(r.Noise), render.Number(r.Rate), effective, render.Text(r.Name), render.Int(r.N)}
		for _, key := range s.Scores {
			row = append(row, r.Scores[key].counted(r.N))
		}
		for _, key := range s.Scores {
			row = append(row, r.Differences[key].counted(r.N))
		}
		row = append(row, render.Text(r.verdict(s.Scores)))
		if chosen {
			row = append(row, render.OptionalText(chosenOn(r.runs)))
		}
		t.Rows, t.RowNotes = append(t.Rows, row), append(t.RowNotes, r.caution)
	}
	t.Notes = append(slices.Clone(s.Notes), "rate: of the labels, pairs or triplets that are disturbed, effective: of wrong pairs, half of them similar; scores in percent; ±: half the 95 % interval of Student's t over n seeds; d: less "+s.kind.against+", seed by seed, with the same first weights, batches and noise; better: the scores by which the row is better (supported) or worse (contradicted), by the interval of d", verdict.Comparisons(comparisons(rows)))
	if s.Contrasts != nil {
		t.Notes = append(t.Notes, "A - B: d is A less B, not less "+s.kind.against+"; better is said of A")
	}
	if slices.Contains(s.Scores, "triplet_error") {
		t.Notes = append(t.Notes, "triplet_error: lower is better; each score is compared separately")
	}
	if !full {
		dropConstant(t)
	}
	return t
}

// comparisons are the differences of all rows.
func comparisons(rows []*NoiseRow) int {
	n := 0
	for _, r := range rows {
		n += len(r.Differences)
	}
	return n
}

// verdict puts those of the scores together.
func (row *NoiseRow) verdict(keys []string) string {
	if row.Verdicts == nil {
		return ""
	}
	var parts []string
	for _, v := range []string{verdict.Supported, verdict.Contradicted} {
		var of []string
		for _, key := range keys {
			if row.Verdicts[key] == v {
				of = append(of, key)
			}
		}
		if of != nil {
			parts = append(parts, v+" ("+strings.Join(of, ", ")+")")
		}
	}
	switch {
	case len(row.Differences) == 0:
		return "no seed in common"
	case parts == nil:
		return verdict.Inconclusive
	}
	return strings.Join(parts, ", ")
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9.]+`)

// Curves draws the scores against the rate, a column for each kind of noise and a row
// for each score: a picture for each data set and setting, base-DATA.png and .svg. It
// returns the PNG files.
func (s *NoiseStudy) Curves(base string) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	var out, done []string
	for _, first := range s.Rows {
		title := first.Data
		if first.Setting != "" {
			title += ", " + first.Setting
		}
		if slices.Contains(done, title) {
			continue
		}
		done = append(done, title)
		var kinds []string
		seeds := 0
		for _, r := range s.Rows {
			if r.Data != first.Data || r.Setting != first.Setting {
				continue
			}
			if seeds = max(seeds, r.N); r.Noise != "none" && !slices.Contains(kinds, r.Noise) {
				kinds = append(kinds, r.Noise)
			}
		}
		if kinds == nil {
			kinds = []string{"none"}
		}
		var panels []render.NoisePanel
		for i, key := range s.Scores {
			for _, kind := range kinds {
				p := render.NoisePanel{YLabel: strings.ReplaceAll(key, "_", " "), Percent: true, Curves: s.curves(first, kind, key)}
				if i == 0 {
					p.Title = kind
					if kind == "sln" || kind == "pln" {
						p.Title = strings.ToUpper(kind)
					}
				}
				panels = append(panels, p)
			}
		}
		file := base + "-" + strings.Trim(notInNames.ReplaceAllString(title, "-"), "-")
		note := fmt.Sprintf("mean over up to %s, with 95 %% intervals of Student's t", text.Plural(seeds, "seed", "seeds"))
		if err := render.NoiseCurves(file, s.kind.title+": "+title, note, "rate of the noise", len(kinds), panels); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// curves are the lines of a panel; what has no noise begins each.
func (s *NoiseStudy) curves(like *NoiseRow, kind, key string) []render.NoiseCurve {
	var out []render.NoiseCurve
	for _, r := range s.Rows { // by ascending rate
		e, ok := r.Scores[key]
		if r.Data != like.Data || r.Setting != like.Setting || r.Noise != kind && r.Noise != "none" || !ok {
			continue
		}
		i := slices.IndexFunc(out, func(c render.NoiseCurve) bool { return c.Loss == r.Name })
		if i < 0 {
			i, out = len(out), append(out, render.NoiseCurve{Loss: r.Name})
		}
		out[i].Rates, out[i].Scores = append(out[i].Rates, r.Rate), append(out[i].Scores, e.bar())
	}
	slices.SortFunc(out, func(a, b render.NoiseCurve) int { return strings.Compare(a.Loss, b.Loss) })
	return out
}
