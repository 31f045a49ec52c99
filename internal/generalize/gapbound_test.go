package generalize

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/run/runtest"
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
	d := &record.LossGap{Largest: m, Sup: &sup}
	d.Gap.Value = -0.1
	b, err := boundGap(d, ds, &gamma, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for g, got := range map[float64]record.BoundAt{0: b.Least, gamma: *b.At} {
		want := (3*theorem(3, 41, g) + 40*theorem(40, 4, g)) / 43
		if math.Abs(got.Value-want) > 1e-9*want || !got.Vacuous || got.Crossed || got.Gamma != g {
			t.Errorf("gamma %v: %+v, want %v", g, got, want)
		}
	}
	if b.NPos != 3 || b.NNeg != 4 || b.Classes != 2 || b.Sup != 2.2 {
		t.Errorf("bound %+v", b)
	}
	if s := BoundWords(b); strings.Count(s, "vacuous") != 2 || !strings.Contains(s, "0.05") {
		t.Error(s)
	}
	huge := 1e9
	d.Sup = &huge
	d.Gap.Value = -1e6
	if b, err = boundGap(d, ds, nil, GapDelta); err != nil || b.Least.Vacuous || !b.Least.Crossed || b.At != nil || !strings.Contains(BoundWords(b), "exceeds") {
		t.Errorf("bound %+v, error %v", b, err)
	}
	d.Sup = nil
	if b, err = boundGap(d, ds, nil, GapDelta); err != nil || b.SupFrom != "seen" || b.Sup != m {
		t.Errorf("bound %+v, error %v", b, err)
	}
	if b, err = boundGap(&record.LossGap{}, ds, nil, GapDelta); b != nil || err != nil {
		t.Errorf("without a loss: %+v, error %v", b, err)
	}
	bad := -1.0
	if _, err = boundGap(d, ds, &bad, GapDelta); err == nil {
		t.Error("a negative gamma has a bound")
	}
}

// A loss below 0 bounds as one above does: M is the largest absolute value, and the gap is
// at most what two losses differ by.
func TestBoundOfNegativeLosses(t *testing.T) {
	ds, err := data.NewMemory(make([]uint8, 6), 1, 1, 1, []int32{0, 0, 0, 1, 1, 1}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ smallest, largest, m, sup float64 }{
		{-4.73, 3.03, 4.73, 7.76},
		{-1, 3, 3, 4},
		{-2, -0.5, 2, 1.5}, // none above 0
		{-2, 0, 2, 2},
	} {
		b, err := boundGap(&record.LossGap{Largest: c.largest, Smallest: c.smallest}, ds, nil, 0.1)
		if err != nil || b == nil {
			t.Errorf("%+v: bound %v, error %v", c, b, err)
			continue
		}
		want := math.E * 8 * c.m * (1/math.Sqrt(3) + 2/math.Sqrt(2)) * math.Sqrt(math.Log(math.E/0.05))
		if b.M != c.m || math.Abs(b.Sup-c.sup) > 1e-12 || b.SupFrom != "range" || math.Abs(b.Least.Value-want) > 1e-9*want || !b.Least.Vacuous || !strings.Contains(BoundWords(b), "differ by") {
			t.Errorf("%+v: bound %+v, want %v: %s", c, b, want, BoundWords(b))
		}
	}
	none := (&GapDoc{}).Table()
	if notes := strings.Join(none.Notes, "\n"); !strings.Contains(notes, "no bound") {
		t.Errorf("notes %s", notes)
	}
}

// The smallest loss of a run is that of its triplets, where the loss can be negative.
func TestGapOfNegativeLosses(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "loss={name: triplet-robust, rho: 0.1, form: odd}", "train.epochs=1")
	d := measuredAs[*GapDoc](t, r, gapOptions)
	if l := d.Loss; l.Smallest >= 0 || l.Smallest >= l.Largest || l.Sup != nil {
		t.Fatalf("losses %v to %v, sup %v", l.Smallest, l.Largest, l.Sup)
	}
	if b := d.Bound; b.M != max(math.Abs(d.Loss.Smallest), math.Abs(d.Loss.Largest)) || b.Sup != d.Loss.Largest-d.Loss.Smallest {
		t.Errorf("bound %+v of losses %v to %v", b, d.Loss.Smallest, d.Loss.Largest)
	}
	if notes := strings.Join(d.Table().Notes, "\n"); !strings.Contains(notes, "losses are -") {
		t.Errorf("notes %s", notes)
	}
}
