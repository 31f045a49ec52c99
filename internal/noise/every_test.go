package noise

import (
	"slices"
	"testing"

	"tercet/internal/component"
	"tercet/internal/data/batch"
)

// Each noise with its defaults: it says what it is put on, the same seed gives the same
// bits and another one others, and its report counts what is wrong.
func TestEveryNoise(t *testing.T) {
	truth := make([]int32, 400)
	for i := range truth {
		truth[i] = int32(i % 5)
	}
	for _, c := range Family.All() {
		k := c.Defaults
		if m, ok := k.(ConfusionKeys); ok {
			m.Matrix = "testdata/confusion.csv"
			k = m
		}
		if list := component.Check(k); len(list) > 0 {
			t.Errorf("%s: its defaults are refused: %v", c.Name, list)
		}
		labels, onLabels := k.(OnLabels)
		_, onPairs := k.(OnPairs)
		_, onTriplets := k.(OnTriplets)
		if n := trues(onLabels, onPairs, onTriplets); n > 1 || n == 0 && c.Name != "none" {
			t.Errorf("%s is put on %d kinds of things", c.Name, n)
		}
		if Seed(k, 7) != 7 {
			t.Errorf("%s: its seed is not the run's", c.Name)
		}
		if f, ok := k.(Fitter); ok != (onPairs || onTriplets) || ok && (len(f.Fit(false, false)) == 0 || len(f.Fit(false, true)) != 0) {
			t.Errorf("%s: what it asks of the sampler", c.Name)
		}
		if onLabels {
			relabels(t, c.Name, labels, truth)
			continue
		}
		in := Drawing{Truth: truth, Seen: truth, Classes: 5, Noise: k, Seed: 3}
		draw, report, err := TripletList{Triplets: 300, Redraw: true}.Draw(in)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		again, _, _ := TripletList{Triplets: 300, Redraw: true}.Draw(in)
		if !slices.Equal(draw(0), again(0)) || slices.Equal(draw(0), draw(1)) {
			t.Errorf("%s: triplets of a seed, and of another epoch", c.Name)
		}
		wrong := 0
		for _, x := range draw(0) {
			wrong += trues(truth[x.P] != truth[x.A], truth[x.N] == truth[x.A])
		}
		noisy := onPairs || onTriplets
		if (wrong > 0) != noisy || noisy && OfTriplets(report).Flipped == 0 {
			t.Errorf("%s: %d wrong pairs in triplets, report %+v", c.Name, wrong, report)
		}
	}
}

func trues(list ...bool) int {
	n := 0
	for _, b := range list {
		if b {
			n++
		}
	}
	return n
}

// relabels checks noise on labels.
func relabels(t *testing.T, name string, k OnLabels, truth []int32) {
	t.Helper()
	out, r, err := k.Relabel(truth, 5, 3)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	again, _, _ := k.Relabel(truth, 5, 3)
	other, _, _ := k.Relabel(truth, 5, 4)
	if !slices.Equal(out, again) || slices.Equal(out, other) {
		t.Errorf("%s: labels of a seed, and of another", name)
	}
	flipped := 0
	for i, y := range out {
		if y < 0 || y > 4 {
			t.Fatalf("%s: label %d is %d of 5", name, i, y)
		}
		flipped += trues(y != truth[i])
	}
	if r.Flipped != flipped || r.Items != len(truth) || flipped == 0 || flipped > 200 {
		t.Errorf("%s: %d of %d labels are wrong; report %+v", name, flipped, len(truth), r)
	}
}

// Each sampler of a config says what its rows promise, and is one of labels, pairs or
// triplets.
func TestEverySampler(t *testing.T) {
	for _, c := range batch.Samplers.All() {
		if list := component.Check(c.Defaults); len(list) > 0 {
			t.Errorf("%s: its defaults are refused: %v", c.Name, list)
		}
		_, labels := c.Defaults.(batch.ByLabels)
		_, pairs := c.Defaults.(GivesPairs)
		_, triplets := c.Defaults.(GivesTriplets)
		layout := c.Defaults.Layout()
		if trues(labels, pairs, triplets) != 1 || pairs != (layout == batch.LayoutGivenPairs) || triplets != (layout == batch.LayoutGivenTriplets) {
			t.Errorf("%s: layout %s; labels %v, pairs %v, triplets %v", c.Name, layout, labels, pairs, triplets)
		}
	}
}
