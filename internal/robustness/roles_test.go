package robustness

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/data"
	"tercet/internal/data/datatest"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

const inshopRun = `
name: roles
data:
  name: inshop
  partial: true
  transform: {test: ["Resize((16, 16))"]}
model: {name: cnn, embedding: 4}
batch: {sampler: class-pairs, pairs: 2}
train: {steps: 1, eval_samples: 0}
`

// Attacks on queries of a gallery: the document says what was searched, values are those of
// the attacked images, and pictures show images of the gallery. Scores of clean images are
// those of a loop.
func TestAttackOnQueriesOfAGallery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Images: true, Classes: []datatest.Class{
		{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 3, Gallery: 1}, {ID: 4, Query: 2, Gallery: 2},
	}}
	tree.InShop()
	r := runtest.Fitted(t, t.TempDir(), inshopRun, "data.root="+dir)
	suite, err := attack.Suite("ers")
	if err != nil {
		t.Fatal(err)
	}
	o := record.AttackOptions{Attacks: suite, PerQuery: true, Pictures: 2, PictureAttacks: []string{"CA+", "GTM"}}
	if err := Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	o.Iterations = 1
	a, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := a.Doc
	if d.Queries != 5 || d.Gallery != 3 || len(d.Options.Variants) != 1 || d.Options.Variants[0] != "fixed" || len(d.Scores["fixed"]) != 11 {
		t.Errorf("%+v", d)
	}
	candidates, err := d.Candidates.Values(d.Queries)
	if err != nil {
		t.Fatal(err)
	}
	roles := data.RolesOf(a.Embedded.Data)
	for i, c := range candidates {
		if int(c) != roles.Gallery[i%3] {
			t.Errorf("candidate %d is image %v, the gallery is %v", i, c, roles.Gallery)
		}
	}
	labels, right := a.Embedded.Data.Labels(), 0.0
	for _, q := range roles.Query {
		best, near := math.Inf(1), 0
		for _, j := range roles.Gallery {
			s := 0.0
			for k, v := range a.Embedded.Vectors.Row(q) {
				s += math.Pow(float64(v)-float64(a.Embedded.Vectors.Row(j)[k]), 2)
			}
			if s < best {
				best, near = s, j
			}
		}
		if labels[near] == labels[q] {
			right += 1. / 5
		}
	}
	if got, _ := d.Clean["fixed"].Get("ES:R"); math.Abs(got.Value-right) > 1e-12 {
		t.Errorf("recall without attack %v, want %v", got.Value, right)
	}
	if _, err := a.DrawAttack(t.TempDir(), 2, nil); err != nil {
		t.Error(err)
	}
	if !HoldsAttack(d, o) {
		t.Error("the stored result is not that of the same options")
	}
	if c, err := Curve(context.Background(), r, "last", "test", o, []float64{0}, tinytest.Quiet); err != nil || c.Gallery != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	o.Variants = []string{"published"}
	if _, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet); !errors.Is(err, retrieval.ErrUnfit) || !strings.Contains(err.Error(), "variant published") {
		t.Error(err)
	}
}
