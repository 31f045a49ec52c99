// Package attacktest checks what every attack must do, whatever it is about. An
// attack's own test adds its oracle: the objective and the scores as its paper
// states them.
package attacktest

import (
	"math"
	"testing"

	"tercet/internal/attack"
	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/array"
	"tercet/internal/rng"
)

// options have more than one target where an attack draws several.
var options = attack.MethodOptions{Seed: 5, W: 2, M: 2}

// Check tests the attack of that name in both variants: its description; gradients
// against differences of the objective; the same bits for any batch and any number
// of threads; no memory taken by a step; draws and seeds that matter only where
// targets are random; NaN that is refused or stays with its query; galleries that
// are too small; and images that stay in the ball and in the range of pixels.
func Check(t *testing.T, name string) {
	a, err := attack.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("description", func(t *testing.T) { checkDescription(t, a) })
	for form, o := range forms(a) {
		for _, v := range attack.Variants() {
			f := newField(t, a, v, o)
			t.Run(form+string(v), func(t *testing.T) {
				t.Run("gradient", f.checkGradient)
				t.Run("independence", f.checkIndependence)
				t.Run("allocations", f.checkAllocations)
				t.Run("targets", f.checkTargets)
				t.Run("NaN", f.checkNaN)
				t.Run("small galleries", f.checkSmall)
			})
		}
	}
	t.Run("crafting", func(t *testing.T) { checkCrafting(t, name) })
}

// forms are the options with which an attack is tested, by name.
func forms(a attack.Attack) map[string]attack.MethodOptions {
	list := map[string]attack.MethodOptions{"": options}
	if a.Uses(attack.Pure) {
		o := options
		o.Pure = true
		list["pure "] = o
	}
	if a.Uses(attack.Near) {
		o := options
		o.Near = true
		list["near "] = o
	}
	return list
}

// field is an attack on a gallery of 400 unit vectors of four labels, and nine of
// them as queries that are off their clean place.
type field struct {
	a       attack.Attack
	variant attack.Variant
	o       attack.MethodOptions
	g       *retrieval.Gallery
	batch   attack.Batch
	z       *array.Array // (B, D)
}

const (
	items, dim, labels, queries = 400, 6, 4, 9
)

func newField(t *testing.T, a attack.Attack, v attack.Variant, o attack.MethodOptions) *field {
	t.Helper()
	r := rng.New(3, "attacktest")
	centers, x, label := array.New(labels, dim), array.New(items, dim), make([]int32, items)
	for i := range centers.Data {
		centers.Data[i] = float32(r.NormFloat64())
	}
	for i := range items {
		label[i] = int32(i * labels / items)
		for k := range x.Row(i) {
			x.Row(i)[k] = centers.Row(int(label[i]))[k] + float32(0.8*r.NormFloat64())
		}
		unit(x.Row(i))
	}
	f := &field{a: a, variant: v, o: o, z: array.New(queries, dim), batch: attack.Batch{Clean: array.New(queries, dim)}}
	var err error
	if f.g, err = retrieval.NewGallery(x, label); err != nil {
		t.Fatal(err)
	}
	for i := range queries {
		item := i * 41
		f.batch.Items = append(f.batch.Items, item)
		copy(f.batch.Clean.Row(i), x.Row(item))
		for k, c := range x.Row(item) {
			f.z.Row(i)[k] = c + float32(0.2*r.NormFloat64())
		}
	}
	return f
}

func unit(x []float32) {
	s := 0.0
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	for k, v := range x {
		x[k] = float32(float64(v) / math.Sqrt(s))
	}
}

// method returns the attack aimed at queries [lo, hi).
func (f *field) method(t *testing.T, o attack.MethodOptions, lo, hi, draw int) attack.Method {
	t.Helper()
	m, err := attack.NewMethod(f.a.Name, f.g, f.variant, o)
	if err != nil {
		t.Fatal(err)
	}
	f.aim(t, m, lo, hi, draw)
	return m
}

func (f *field) aim(t *testing.T, m attack.Method, lo, hi, draw int) {
	t.Helper()
	if err := m.Aim(&attack.Batch{Items: f.batch.Items[lo:hi], Clean: f.batch.Clean.Slice(lo, hi)}, draw); err != nil {
		t.Fatal(err)
	}
}

// evaluate returns objectives and gradients at z (B, D).
func evaluate(t *testing.T, m attack.Method, z *array.Array) ([]float64, *array.Array) {
	t.Helper()
	per, grad := make([]float64, z.Rows()), array.New(z.Shape...)
	for i := range grad.Data {
		grad.Data[i] = float32(math.NaN()) // Eval overwrites
	}
	if err := m.Eval(z, per, grad); err != nil {
		t.Fatal(err)
	}
	return per, grad
}

// score returns the scores at z.
func score(m attack.Method, z *array.Array) [][]float64 {
	out := make([][]float64, len(m.Scores()))
	for s := range out {
		out[s] = make([]float64, z.Rows())
	}
	m.Score(z, z, out)
	return out
}
