package adversary

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

type failing struct{ along }

func TestPGDErrors(t *testing.T) {
	m := newNet(13, 8, 4, 2, false, 1)
	sick := newNet(13, 8, 4, 2, false, 1)
	sick.poison = true
	g := along{[]float64{1, 1}}
	ok := images(14, 3, 0, 1)
	out := array.New(3, 2, 2, 2)
	dark := images(14, 3, 0, 1)
	dark.Row(1)[5] = -0.25
	nan := images(14, 3, 0, 1)
	nan.Row(2)[0] = float32(math.NaN())
	random := base()
	random.Start = FromRandom
	for _, c := range []struct {
		name string
		p    PGD
		m    nn.Embedder
		x    *array.Array
		out  *array.Array
		ids  []uint64
		g    Goal
		want string
		is   error
	}{
		{"gradient", base(), sick, ok, out, nil, g, "input gradient of image 2 is NaN in element 2 at step 0", ErrNonFinite},
		{"objective", base(), m, ok, out, nil, failing{g}, "objective of image 2 is NaN at step 0", ErrNonFinite},
		{"pixel", base(), m, dark, out, nil, g, "image 1, element 5 is -0.25, outside [0, 1]", nil},
		{"NaN pixel", base(), m, nan, out, nil, g, "image 2, element 0 is NaN", nil},
		{"shape", base(), m, ok, array.New(3, 2, 2, 1), nil, g, "output images is [3 2 2 1]", array.ErrShape},
		{"empty", base(), m, array.New(0, 2, 2, 2), array.New(0, 2, 2, 2), nil, g, "no images", array.ErrShape},
		{"alias", base(), m, ok, ok, nil, g, "share storage", nil},
		{"ids", random, m, ok, out, nil, g, "an id for each of the 3 images, got 0", nil},
		{"options", PGD{}, m, ok, out, nil, g, "unknown norm", nil},
	} {
		_, err := c.p.Run(c.m, c.x, c.ids, c.g, 0, c.out)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, bad := range []func(p *PGD){
		func(p *PGD) { p.Norm = "l1" },
		func(p *PGD) { p.Direction = "" },
		func(p *PGD) { p.Rule = "apgd" },
		func(p *PGD) { p.Start = "zero" },
		func(p *PGD) { p.Keep = "first" },
		func(p *PGD) { p.Eps = -1 },
		func(p *PGD) { p.Eps = math.NaN() },
		func(p *PGD) { p.Eps = 8 },
		func(p *PGD) { p.Iterations = 0 },
		func(p *PGD) { p.Step = 0 },
		func(p *PGD) { p.Step = math.Inf(1) },
		func(p *PGD) { p.Restarts = 0 },
		func(p *PGD) { p.Mode = nn.Train },
		func(p *PGD) { p.SkipFinal, p.Keep = true, Best },
		func(p *PGD) { p.SkipFinal, p.Restarts = true, 2 },
	} {
		p := base()
		bad(&p)
		if err := p.Validate(); err == nil {
			t.Errorf("%+v accepted", p)
		}
	}
	fgsm := base()
	fgsm.FGSM, fgsm.Iterations, fgsm.Step = true, 1, 0
	if err := fgsm.Validate(); err != nil {
		t.Error(err)
	}
}
