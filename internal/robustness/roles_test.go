package robustness

import (
	"context"
	"errors"
	"strings"
	"testing"

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

// Attacks search among all other images, so that queries of a gallery are refused.
func TestNoAttackOnQueriesOfAGallery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := datatest.Tree{T: t, Dir: dir, Images: true, Classes: []datatest.Class{
		{ID: 1, Train: 3}, {ID: 2, Train: 2}, {ID: 3, Query: 3, Gallery: 1}, {ID: 4, Query: 2, Gallery: 2},
	}}
	tree.InShop()
	r := runtest.Fitted(t, t.TempDir(), inshopRun, "data.root="+dir)
	o := record.AttackOptions{Attacks: []string{"ES"}}
	if err := Profile(&o, "auto", 16); err != nil {
		t.Fatal(err)
	}
	_, err := Attack(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "these are 5 queries for a gallery of 3") {
		t.Error(err)
	}
	_, err = Curve(context.Background(), r, "last", "test", o, []float64{0}, tinytest.Quiet)
	if !errors.Is(err, data.ErrUnfit) {
		t.Error(err)
	}
	o.Iterations = 1
	if _, err := Attack(context.Background(), r, "last", "train", o, tinytest.Quiet); err != nil {
		t.Errorf("training images have no roles: %v", err)
	}
}
