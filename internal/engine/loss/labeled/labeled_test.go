package labeled

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// labeledCase is a case of testdata/scripts/labeled_losses_golden.py, plain loops in
// float64 with exact gradients.
type labeledCase struct {
	Name           string
	Loss           string
	Options        map[string]any
	Rows           [][]float32
	Labels         []int32
	Items          []uint64
	Triplets       [][3]int32
	Classes        int
	Params         [][]float32
	Value          float64
	Gradient       []float64
	ParamsGradient [][]float64 `json:"params_gradient"`
}

// Values and gradients of all losses on labels are those of plain loops.
func TestLabeledGolden(t *testing.T) {
	t.Parallel()
	var golden struct{ Cases []labeledCase }
	testutil.ReadJSON(t, "testdata/labeled.json", &golden)
	tested := map[string]bool{}
	for _, c := range golden.Cases {
		tested[c.Loss] = true
		t.Run(c.Name, func(t *testing.T) { c.check(t) })
	}
	for _, c := range loss.Family.All() {
		if c.Defaults.Takes() == loss.Labels && !tested[c.Name] {
			t.Errorf("no case of %s", c.Name)
		}
	}
}

func (c labeledCase) check(t *testing.T) {
	l := c.build(t)
	z := array.New(len(c.Rows), len(c.Rows[0]))
	for i, row := range c.Rows {
		copy(z.Row(i), row)
	}
	grad := z.Clone()
	tuples := loss.Tuples{Labels: c.Labels, Items: c.Items}
	for _, x := range c.Triplets {
		tuples.Triplets = append(tuples.Triplets, loss.Triplet{A: x[0], P: x[1], N: x[2]})
	}
	res, err := l.Eval(z, &tuples, grad)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(res.Loss-c.Value) > 1e-5*(1e-3+math.Abs(c.Value)) {
		t.Errorf("loss %v, want %v", res.Loss, c.Value)
	}
	compareGradient(t, "gradient", grad.Data, c.Gradient)
	if p, ok := l.(loss.Parametric); ok {
		for i, p := range p.Params() {
			compareGradient(t, p.Name, p.Grad.Data, c.ParamsGradient[i])
		}
	}
}

// build makes the loss with the case's options and parameters.
func (c labeledCase) build(t *testing.T) loss.Objective {
	known, ok := loss.Family.Lookup(c.Loss)
	if !ok {
		t.Fatalf("no loss %s", c.Loss)
	}
	v := reflect.New(reflect.TypeOf(known.Defaults)).Elem()
	v.Set(reflect.ValueOf(known.Defaults))
	set := 0
	for i := range v.NumField() {
		x, ok := c.Options[v.Type().Field(i).Tag.Get("yaml")]
		if !ok {
			continue
		}
		v.Field(i).Set(reflect.ValueOf(x).Convert(v.Field(i).Type()))
		set++
	}
	if set != len(c.Options) {
		t.Fatalf("options %v are not those of %s", c.Options, c.Loss)
	}
	o := v.Interface().(loss.Options)
	if list := component.Check(o); len(list) > 0 {
		t.Fatal(list)
	}
	l, err := o.New()
	if err != nil {
		t.Fatal(err)
	}
	p, ok := l.(loss.Parametric)
	if !ok {
		return l
	}
	if err := p.Begin(len(c.Rows[0]), c.Classes, rng.New(1, "loss")); err != nil {
		t.Fatal(err)
	}
	for i, p := range p.Params() {
		if len(p.Value.Data) != len(c.Params[i]) {
			t.Fatalf("%s has %d numbers, the case %d", p.Name, len(p.Value.Data), len(c.Params[i]))
		}
		copy(p.Value.Data, c.Params[i])
	}
	return l
}

func compareGradient(t *testing.T, name string, got []float32, want []float64) {
	t.Helper()
	largest := 1e-6
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if math.Abs(float64(got[i])-w) > 1e-5*largest {
			t.Errorf("%s, number %d: %v, want %v (largest %v)", name, i, got[i], w, largest)
			return
		}
	}
}

// Batches without anything to learn, of rows of zeros, of equal and opposite rows, and of
// extreme lengths have finite values and gradients.
func TestDegenerateLabels(t *testing.T) {
	t.Parallel()
	batches := map[string][][]float32{
		"zeros":         {{0, 0}, {0, 0}, {0, 0}, {0, 0}},
		"a zero":        {{0, 0}, {1, 2}, {2, 1}, {-1, 1}},
		"equal rows":    {{1, 2}, {1, 2}, {1, 2}, {1, 2}},
		"opposite rows": {{1, 2}, {-1, -2}, {1, 2}, {-1, -2}},
		"huge and tiny": {{1e30, 2e30}, {-1e-20, 1e-20}, {1e25, 0}, {0, 1e-30}},
	}
	for _, known := range loss.Family.All() {
		if known.Defaults.Takes() != loss.Labels {
			continue
		}
		for name, rows := range batches {
			for _, labels := range [][]int32{{0, 0, 1, 1}, {0, 1, 0, 1}, {2, 2, 2, 2}, {0, 1, 2, 3}} {
				t.Run(fmt.Sprintf("%s, %s, %v", known.Name, name, labels), func(t *testing.T) {
					l, err := known.Defaults.New()
					if err != nil {
						t.Fatal(err)
					}
					var all []float32
					p, learned := l.(loss.Parametric)
					if learned {
						if err := p.Begin(2, 4, rng.New(1, "loss")); err != nil {
							t.Fatal(err)
						}
					}
					z := array.New(4, 2)
					for i, row := range rows {
						copy(z.Row(i), row)
					}
					grad := z.Clone()
					res, err := l.Eval(z, &loss.Tuples{Labels: labels, Items: []uint64{7, 7, 8, 8}}, grad)
					if name == "huge and tiny" && errors.Is(err, loss.ErrNonFinite) {
						return // refused
					}
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, grad.Data...)
					if learned {
						for _, p := range p.Params() {
							all = append(all, p.Grad.Data...)
						}
					}
					for _, v := range []float64{res.Loss, res.Positive, res.Negative} {
						if v-v != 0 {
							t.Fatalf("%+v", res)
						}
					}
					for _, v := range all {
						if v-v != 0 {
							t.Fatalf("%+v, gradients %v", res, all)
						}
					}
				})
			}
		}
	}
}
