package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/verdict"
)

// studyNote explains the numbers of both tables.
const studyNote = "acc, nmi, ami, ari in percent; ±: half the 95 % interval of Student's t over n seeds"

// Table has a row for each data set, method, rate of noise and loss.
func (s *ClusterStudy) Table() *render.Table {
	t := &render.Table{
		Title:   "clustering",
		Columns: []render.Column{{Name: "data"}, {Name: "method"}, {Name: "noise"}, {Name: "loss"}, {Name: "n"}},
		Notes:   append(slices.Clone(s.Notes), studyNote+"; k-means is given the number of clusters, the others find it"),
	}
	t.Columns = append(t.Columns, studyColumns()...)
	t.Columns = append(t.Columns, render.Column{Name: studyClusters, Digits: 1, Paper: true}, render.Column{Name: studyThreshold, Digits: 3, Paper: true})
	chosen := slices.ContainsFunc(s.Rows, func(r StudyRow) bool { return chosenOn(r.runs) != "" })
	if chosen {
		t.Columns = append(t.Columns, render.Column{Name: selectionColumn})
	}
	for _, r := range s.Rows {
		row := []render.Cell{render.Text(r.Data), render.Text(r.Method), render.Text(fmt.Sprint(r.Noise)), render.Text(r.Loss), render.Int(r.N)}
		for _, key := range append(slices.Clone(studyScores), studyClusters, studyThreshold) {
			row = append(row, r.Scores[key].counted(r.counts(key)))
		}
		if chosen {
			row = append(row, render.OptionalText(chosenOn(r.runs)))
		}
		t.Rows, t.RowNotes = append(t.Rows, row), append(t.RowNotes, r.caution(s.Rows))
	}
	return t
}

// counts is of how many runs a number would be: that some have no threshold is no lack.
func (row *StudyRow) counts(key string) int {
	if key == studyThreshold {
		return row.Scores[key].N
	}
	return row.N
}

// DifferencesTable has a row for each comparison and rate of noise.
func (s *ClusterStudy) DifferencesTable() *render.Table {
	t := &render.Table{
		Title:   "clustering: differences with the same seeds",
		Columns: []render.Column{{Name: "data"}, {Name: "difference"}, {Name: "of"}, {Name: "noise"}, {Name: "n"}},
		Notes: append(slices.Clone(s.Notes), studyNote+", which have the same first weights, batches and flipped labels on both sides",
			"noise > 0: of each seed's mean over all rates above 0", verdict.Comparisons(len(s.Differences)*len(studyScores))),
	}
	t.Columns = append(t.Columns, studyColumns()...)
	for _, d := range s.Differences {
		noise := "> 0"
		if d.Noise != nil {
			noise = fmt.Sprint(*d.Noise)
		}
		row := []render.Cell{render.Text(d.Data), render.Text(d.What), render.Text(d.Where), render.Text(noise), render.Int(d.N)}
		for _, key := range studyScores {
			row = append(row, d.Scores[key].cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func studyColumns() []render.Column {
	var out []render.Column
	for _, key := range studyScores {
		out = append(out, render.Column{Name: key, Digits: 1, Percent: true, Paper: true})
	}
	return out
}

// Curves writes a picture for each data set, base-DATA.png and .svg, of scores
// against noise: a row for each score, a column for each method, a line for each
// loss. It returns the PNG files.
func (s *ClusterStudy) Curves(base string) ([]string, error) {
	if e := filepath.Ext(base); strings.EqualFold(e, ".png") || strings.EqualFold(e, ".svg") {
		base = strings.TrimSuffix(base, e)
	}
	var out []string
	for _, data := range s.datas() {
		var methods []string
		seeds := 0
		for _, r := range s.Rows {
			if r.Data != data {
				continue
			}
			if !slices.Contains(methods, r.Method) {
				methods = append(methods, r.Method)
			}
			seeds = max(seeds, r.N)
		}
		var panels []render.NoisePanel
		for i, key := range []string{"nmi", "acc", "ari", studyClusters} {
			for _, m := range methods {
				p := render.NoisePanel{YLabel: key, Percent: key != studyClusters, Log: key == studyClusters, Curves: s.curves(data, m, key)}
				if i == 0 {
					p.Title = m
				}
				panels = append(panels, p)
			}
		}
		file := base + "-" + data
		note := "one seed: no intervals"
		if seeds > 1 {
			note = fmt.Sprintf("mean over up to %s, with 95 %% intervals of Student's t, cut at 0 and 100 %%", text.Plural(seeds, "seed", "seeds"))
		}
		if err := render.NoiseCurves(file, data+": clusters under label noise", note, "label noise", len(methods), panels); err != nil {
			return out, err
		}
		out = append(out, file+".png")
	}
	return out, nil
}

// curves are the lines of a panel, one for each loss, in the order of the alphabet.
func (s *ClusterStudy) curves(data, method, key string) []render.NoiseCurve {
	var out []render.NoiseCurve
	for _, r := range s.Rows {
		e, ok := r.Scores[key]
		if r.Data != data || r.Method != method || !ok {
			continue
		}
		i := slices.IndexFunc(out, func(c render.NoiseCurve) bool { return c.Loss == r.Loss })
		if i < 0 {
			i, out = len(out), append(out, render.NoiseCurve{Loss: r.Loss, Method: method})
		}
		b := render.Bar{Value: *e.Value, Low: *e.Value, High: *e.Value}
		if e.CI95 != nil {
			b.Low, b.High = e.CI95[0], e.CI95[1]
			if key != studyClusters { // intervals of few seeds go beyond what a score can be
				b.Low, b.High = max(b.Low, min(0, *e.Value)), min(b.High, 1)
			}
		}
		out[i].Rates = append(out[i].Rates, r.Noise)
		out[i].Scores = append(out[i].Scores, b)
	}
	slices.SortFunc(out, func(a, b render.NoiseCurve) int { return strings.Compare(a.Loss, b.Loss) })
	return out
}
