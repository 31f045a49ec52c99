package robustness

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/embed"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

// The rows of a sheet are the images that a sort of all distances finds.
func TestRowsShowWhatIsRetrieved(t *testing.T) {
	r := runtest.Trained(t, t.TempDir())
	o := record.AttackOptions{Attacks: []string{"QA+", "ES", "LTM", "GTT"}, Variants: []string{"published", "fixed"}, Queries: 8, Batch: 4, Pictures: 3, PictureAttacks: []string{"QA+", "LTM", "GTT"}}
	if err := Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 3
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	shown := a.shownPictures()
	if len(shown) != 3 {
		t.Fatalf("%d attacks are shown, want 3", len(shown))
	}
	labels, x := a.Embedded.Data.Labels(), a.Embedded.Vectors
	for _, p := range shown {
		if p.Variant != attack.Fixed {
			t.Errorf("%s is shown as %s", p.Attack, p.Variant)
		}
		rows, err := a.pictureRows(p, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 2 || (rows[0].Target == nil) != (p.Attack == "LTM") {
			t.Errorf("%s: %d rows, target %v", p.Attack, len(rows), rows[0].Target)
		}
		// Of three pictures, two evenly spread ones are the first two.
		for i, row := range rows {
			place := p.Kept[i]
			q := a.Result.Queries[place]
			var order []int
			distance := make([]float64, x.Rows())
			for j := range distance {
				for k, v := range p.Embedding.Row(i) {
					e := float64(v) - float64(x.Row(j)[k])
					distance[j] += e * e
				}
				if j != q {
					order = append(order, j)
				}
			}
			sort.SliceStable(order, func(a, b int) bool { return distance[order[a]] < distance[order[b]] })
			if len(row.Before) != retrieved || len(row.After) != retrieved {
				t.Fatalf("%d images before, %d after", len(row.Before), len(row.After))
			}
			for k, n := range row.After {
				want, err := embed.Tile(a.Embedded.Data, order[k])
				if err != nil {
					t.Fatal(err)
				}
				if n.Correct != (labels[order[k]] == labels[q]) || n.Caption != want.Caption || !sameImage(n.Image.Pix, want.Image.Pix) {
					t.Errorf("%s, row %d: neighbor %d is not item %d", p.Attack, i, k, order[k])
				}
			}
			var now float64
			for _, s := range a.Result.Scored {
				if s.Variant == attack.Fixed {
					now = s.Adversarial[s.Column(p.Attack)][place]
				}
			}
			words := row.Adversarial.Caption
			if p.Attack == "LTM" && (words == "still right") != (now == 1) || p.Attack == "LTM" && (now == 1) != row.After[0].Correct {
				t.Errorf("LTM %v, caption %q, first image right: %v", now, words, row.After[0].Correct)
			}
			if p.Attack == "QA+" && !strings.HasSuffix(words, " %") {
				t.Errorf("caption %q", words)
			}
		}
	}
	if _, err := a.DrawAttack(t.TempDir(), 3, []string{"GTT"}); err != nil {
		t.Error(err)
	}
}

func sameImage(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// Published lines are dashed where there are both.
func TestCurveIsDrawn(t *testing.T) {
	point := func(eps, v float64) record.CurvePoint {
		s := record.Scores{{Key: "ES:R", Value: record.Value{Value: v}}}
		return record.CurvePoint{Eps: eps, Scores: map[string]record.Scores{"fixed": s, "published": s}}
	}
	d := &record.Curve{Options: record.AttackOptions{Norm: "linf", Variants: []string{"published", "fixed"}}, Points: []record.CurvePoint{point(0, 1), point(0.1, 0.5)}}
	dir := t.TempDir()
	for _, tc := range []struct {
		variants []string
		note     string
		dashed   bool
	}{
		{[]string{"published", "fixed"}, "solid: fixed; dashed: published", true}, {[]string{"published"}, "variant: published", false},
	} {
		d.Options.Variants = tc.variants
		if _, err := DrawCurve(d, dir); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "attack-curve.svg"))
		if svg := string(b); err != nil || !strings.Contains(svg, tc.note) || strings.Contains(svg, "stroke-dasharray") != tc.dashed {
			t.Errorf("%v: %v", tc.variants, err)
		}
	}
	d.Points = nil
	if _, err := DrawCurve(d, dir); err == nil {
		t.Error("a curve without points is drawn")
	}
}
