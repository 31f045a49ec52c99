package wire

import (
	"math"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/run/tinytest"
)

func TestTheBudgetFollowsTheImages(t *testing.T) {
	d, ok := tinytest.Config(t, "defense=act").Defense.Options.(adversary.ACTKeys)
	if !ok {
		t.Fatal("defense act has other options")
	}
	for _, c := range []struct {
		side      int
		change    func(*adversary.CraftingKeys)
		eps, step float64
	}{
		{28, nil, 77. / 255, 3. / 255},
		{64, nil, 77. / 255, 3. / 255},
		{224, nil, 8. / 255, 1. / 255},
		{224, func(c *adversary.CraftingKeys) { c.Scale, c.Steps = "ball", 4 }, 8. / 255, 2.5 * 8 / 255 / 4},
		{28, func(c *adversary.CraftingKeys) { c.Eps, c.Alpha = new(0.1), new(0.02) }, 0.1, 0.02},
	} {
		o := d.PGD
		if c.change != nil {
			c.change(&o)
		}
		p := o.PGD(c.side)
		if p.Eps != c.eps || math.Abs(p.Step-c.step) > 1e-15 || p.Norm != adversary.Linf {
			t.Errorf("side %d: eps %v, step %v in the ball %s; want %v and %v", c.side, p.Eps, p.Step, p.Norm, c.eps, c.step)
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}
