package train

import (
	"math"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
)

// The hardness of the same triplets before crafting: in a ball of no size it is that
// after crafting, and in a large one min-max makes triplets harder than they were.
func TestHardnessBeforeCrafting(t *testing.T) {
	t.Parallel()
	for _, eps := range []float64{1e-7, 0.2} {
		pgd := adversary.Training()
		pgd.Eps, pgd.Step, pgd.Iterations = eps, eps/2, 3
		est, err := adversary.NewEST(adversary.ESTOptions{PGD: pgd})
		if err != nil {
			t.Fatal(err)
		}
		act, err := adversary.NewACT(adversary.ACTOptions{PGD: pgd})
		if err != nil {
			t.Fatal(err)
		}
		minmax, err := adversary.NewMinMax(adversary.MinMaxOptions{PGD: pgd, Anchor: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []adversary.Defense{est, act, minmax} {
			r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Defense, tr.Steps, tr.Mode = d, 4, nn.Frozen })
			finalBytes(t, r)
			c := r.State.Crafted
			if c == nil || c.Benign == nil || c.Achieved == nil {
				t.Fatalf("%s: %+v", d.Name(), c)
			}
			rise := *c.Achieved - *c.Benign
			if eps < 0.1 && math.Abs(rise) > 1e-4 || eps > 0.1 && math.Abs(rise) < 1e-3 || eps > 0.1 && d.Name() == "minmax" && rise < 0.01 {
				t.Errorf("%s, eps %v: hardness %v before, %v after", d.Name(), eps, *c.Benign, *c.Achieved)
			}
		}
	}
	// Means that began without it, in an older version, stay without it.
	c := record.Crafted{Steps: 5}
	if addCrafted(&c, adversary.Crafted{}, -0.5, -0.4); c.Benign != nil || c.Achieved != nil || c.Steps != 6 {
		t.Errorf("%+v", c)
	}
}
