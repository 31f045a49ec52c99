package experiment

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/data"
)

// Theorem 1 as printed, class by class.
func TestBoundOfAGapByHand(t *testing.T) {
	sizes := []int{3, 1, 0, 40} // the class of one item has no triplets as anchor
	var labels []int32
	for y, n := range sizes {
		for range n {
			labels = append(labels, int32(y))
		}
	}
	ds, err := data.NewMemory(make([]uint8, len(labels)), 1, 1, 1, labels, []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	const m, delta = 0.7, 0.1 / 2
	theorem := func(p, n, g float64) float64 {
		return 6*g + math.E*(8*m*(1/math.Sqrt(n)+2/math.Sqrt(p-1))*math.Sqrt(math.Log(math.E/delta))+
			24*math.Sqrt2*g*(math.Ceil(math.Log2(n*(p-1)*(p-1)))+2)*math.Log(math.E/delta))
	}
	sup, gamma := 2.2, 0.05
	d := &LossGap{Largest: m, Sup: &sup}
	d.Gap.Value = -0.1
	b, err := boundGap(d, ds, &gamma, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for g, got := range map[float64]BoundAt{0: b.Least, gamma: *b.At} {
		want := (3*theorem(3, 41, g) + 40*theorem(40, 4, g)) / 43
		if math.Abs(got.Value-want) > 1e-9*want || !got.Vacuous || got.Crossed || got.Gamma != g {
			t.Errorf("gamma %v: %+v, want %v", g, got, want)
		}
	}
	if b.NPos != 3 || b.NNeg != 4 || b.Classes != 2 || b.Sup != 2.2 {
		t.Errorf("bound %+v", b)
	}
	if s := b.String(); strings.Count(s, "vacuous") != 2 || !strings.Contains(s, "0.05") {
		t.Error(s)
	}
	huge := 1e9
	d.Sup = &huge
	d.Gap.Value = -1e6
	if b, err = boundGap(d, ds, nil, GapDelta); err != nil || b.Least.Vacuous || !b.Least.Crossed || b.At != nil || !strings.Contains(b.String(), "exceeds") {
		t.Errorf("bound %+v, error %v", b, err)
	}
	d.Sup = nil
	if b, err = boundGap(d, ds, nil, GapDelta); err != nil || b.SupFrom != "seen" || b.Sup != m {
		t.Errorf("bound %+v, error %v", b, err)
	}
	if b, err = boundGap(&LossGap{}, ds, nil, GapDelta); b != nil || err != nil {
		t.Errorf("without a loss: %+v, error %v", b, err)
	}
	bad := -1.0
	if _, err = boundGap(d, ds, &bad, GapDelta); err == nil {
		t.Error("a negative gamma has a bound")
	}
}
