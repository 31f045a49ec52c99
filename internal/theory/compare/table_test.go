package compare

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/theory/measure"
	"tercet/internal/verdict"
)

// tiny is a document without a claim: a small gap with an undecided bound.
func tinyGap() record.MetricStability {
	d := stabilityDoc("", "mnist")
	yes := true
	e := measure.EstimateOf([]float64{-1e-5, 3e-5, 2.5e-5})
	d.Checks, d.Verdict = nil, ""
	d.Series = []record.MetricSeries{{
		Name: "expected gap", Quantity: "gap", Axis: "n", Learner: record.Learner{Name: "rrm", Loss: "logistic", Zeta: .1},
		Points: []record.MetricPoint{{X: 20, Sizes: record.Sizes{Pos: 20, Neg: 20}, Measured: e, Repeats: []float64{-1e-5, 3e-5, 2.5e-5},
			Bounds: []record.MetricBound{{Source: "Theorem 4", Form: "corrected", Constants: "tight", Value: 2e-5, Vacuous: &yes}}}},
	}}
	return d
}

func TestStabilityTableForPeople(t *testing.T) {
	dir := t.TempDir()
	writeStability(t, filepath.Join(dir, "x.json"), tinyGap())
	s, err := Read([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	out := rendered(t, s.Table(Layout{}), "markdown")
	head, _, _ := strings.Cut(out, "|:---")
	for _, empty := range []string{"claim", "data", "expected", "verdict", "printed", "slope"} {
		if strings.Contains(head, "| "+empty) {
			t.Errorf("column %s is empty:\n%s", empty, out)
		}
	}
	for _, want := range []string{"gap, controlled", "1.5e-05 [", "| 2e-05 | corrected, tight (inconclusive) | all |", "missing bounds: Theorem 4 assumes", "vacuous: bounds above"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "claims, by") || strings.Contains(out, "Lemma 2") {
		t.Error(out)
	}
	csv := rendered(t, s.Table(Layout{Settings: true, Exact: true}), "csv")
	if !strings.HasPrefix(csv, "claim,data,what") || !strings.Contains(csv, "as expected") {
		t.Error(csv)
	}
}

// A row says what concerns it; the claim's verdict stands once.
func TestRowsAreNotTheClaim(t *testing.T) {
	doc := stabilityDoc("T5", "mnist")
	doc.Verdict = verdict.Contradicted // another series failed
	s := Of(Document{File: "x.json", MetricStability: doc})
	table := s.Table(Layout{})
	for _, r := range table.Rows {
		for _, x := range r {
			if x.Words() == verdict.Contradicted {
				t.Errorf("%+v", r)
			}
		}
		if last := r[len(r)-1].Words(); last != "-1.15 to -0.85: supported" {
			t.Errorf("slope as expected: %s", last)
		}
	}
	if notes := strings.Join(table.Notes, "\n"); !strings.Contains(notes, "T5, mnist: contradicted") {
		t.Error(notes)
	}
	// The rows of settings say which bounds are crossed there: the first two of three.
	rows := s.Table(Layout{Settings: true}).Rows
	at := len(rows[0]) - 3 // crossed, slope, expected
	for i, want := range map[int]string{0: "printed; printed, tight", 2: "printed; printed, tight", 4: "printed, tight"} {
		if got := rows[i][at].Words(); got != want {
			t.Errorf("row %d: %q, want %q", i, got, want)
		}
	}
}

func TestLemma2IsBothForms(t *testing.T) {
	p := record.MetricPoint{Bounds: []record.MetricBound{{Source: "Lemma 2", Form: "corrected", Constants: "tight", Value: 3}}}
	if b := boundOf(p, "Lemma 2", "printed, tight"); b == nil || b.Value != 3 {
		t.Errorf("%v", b)
	}
	if b := boundOf(p, "Lemma 2", "printed"); b != nil {
		t.Errorf("%v", b)
	}
}

// Theorems of different panels are distinguished, and long subtitles are not cut.
func TestStabilityPicture(t *testing.T) {
	d := &Document{MetricStability: stabilityDoc("T1", "mnist")}
	other := stabilityDoc("T1", "mnist").Series[0]
	for i := range other.Points {
		for k := range other.Points[i].Bounds {
			other.Points[i].Bounds[k].Source = "Theorem 2"
		}
	}
	d.Series = append(d.Series, other)
	known := d.sources()
	if strings.Join(known, ", ") != "Lemma 4, Lemma 6, Theorem 2" {
		t.Fatal(known)
	}
	looks := map[string]string{}
	for _, s := range d.Series {
		p := panelOf(s, known)
		for _, l := range p.Lines {
			look := fmt.Sprint(l.Color, l.Dash)
			if was, ok := looks[look]; ok && was != l.Name {
				t.Errorf("%s looks like %s", l.Name, was)
			}
			looks[look] = l.Name
		}
	}
}
