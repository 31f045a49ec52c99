// Package losstest checks what every loss must do, whatever its formula: gradients
// that are the derivatives of its values, the same value for the same tuples in any
// order, nothing for no tuples, errors for NaN and for rows outside the batch, the same
// bits for any number of threads, no allocation after the first batch, and traits that
// agree with its values. A new loss's own test is then its oracle alone.
package losstest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/nn"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// Variants returns o and its copies in which one key that takes a few words, or true
// and false, has another value. Those that the options refuse are left out. Losses that
// know of wrong triplets come without and with some.
func Variants(o loss.Options) map[string]loss.Options {
	out := map[string]loss.Options{"default": o}
	t := reflect.TypeOf(o)
	for i := range t.NumField() {
		f := t.Field(i)
		words := component.Words(f.Tag)
		if f.Type.Kind() == reflect.Bool {
			words = []string{"false", "true"}
		}
		for _, w := range words {
			v := reflect.New(t).Elem()
			v.Set(reflect.ValueOf(o))
			if f.Type.Kind() == reflect.Bool {
				v.Field(i).SetBool(w == "true")
			} else {
				v.Field(i).SetString(w)
			}
			if c := v.Interface().(loss.Options); len(component.Check(c)) == 0 {
				out[f.Tag.Get("yaml")+" "+w] = c
			}
		}
	}
	for name, c := range maps.Clone(out) {
		if n, ok := c.(loss.NoiseAware); ok {
			out[name+", triplets wrong"] = n.Weigh(0.7, 0.1)
		}
	}
	return out
}

// Check tests the loss of o. It sets the number of threads, so that its caller must
// not run in parallel with others.
func Check(t testing.TB, o loss.Options) {
	t.Helper()
	if list := component.Check(o); len(list) > 0 {
		t.Fatalf("options %+v: %s %s", o, list[0].Key, list[0].Msg)
	}
	for _, c := range cases(o.Takes()) {
		c.o = o
		c.gradient(t)
		c.order(t)
		c.refuses(t)
		c.threads(t)
		c.allocates(t)
		c.traits(t)
	}
	nothing(t, o)
	notNumbers(t, o)
}

// notNumbers requires that New refuses NaN for every number.
func notNumbers(t testing.TB, o loss.Options) {
	t.Helper()
	for i := range reflect.TypeOf(o).NumField() {
		f := reflect.TypeOf(o).Field(i)
		if f.Type.Kind() != reflect.Float64 || strings.Trim(f.Tag.Get("yaml"), "-") == "" {
			continue
		}
		v := reflect.New(reflect.TypeOf(o)).Elem()
		v.Set(reflect.ValueOf(o))
		v.Field(i).SetFloat(math.NaN())
		if _, err := v.Interface().(loss.Options).New(); err == nil {
			t.Errorf("%T: %s NaN is accepted", o, f.Name)
		}
	}
}

// problem is a loss with a batch.
type problem struct {
	o      loss.Options
	name   string
	z      *array.Array
	tuples loss.Tuples
}

// cases are a batch with few tuples for its rows, and one with many: losses may
// evaluate them in different ways.
func cases(k loss.Kind) []problem {
	r := rng.New(1, "losstest")
	labels, items := []int32{0, 1, 0, 2, 1, 2, 0, 1, 2, 2}, []uint64{5, 3, 3, 4, 5, 8, 8, 9, 9, 4}
	var few, many loss.Tuples
	for a := range labels {
		for p := range labels {
			for n := range labels {
				if a != p && labels[a] == labels[p] && labels[n] != labels[a] {
					many.Triplets = append(many.Triplets, loss.Triplet{A: int32(a), P: int32(p), N: int32(n)})
				}
			}
			if a < p {
				many.Pairs = append(many.Pairs, loss.Pair{I: int32(a), J: int32(p), Similar: labels[a] == labels[p]})
			}
		}
	}
	for range 5 {
		few.Triplets = append(few.Triplets, many.Triplets[r.IntN(len(many.Triplets))])
		few.Pairs = append(few.Pairs, many.Pairs[r.IntN(len(many.Pairs))])
	}
	few.Labels, many.Labels = labels, labels
	few.Items, many.Items = items, items
	out := []problem{{name: "all tuples", z: grid(r, len(labels), 3), tuples: of(k, many)}}
	if k == loss.Pairs || k == loss.Triplets {
		out = append(out, problem{name: "few tuples", z: grid(r, len(labels), 3), tuples: of(k, few)})
	}
	return out
}

// of leaves the tuples of the other kind out.
func of(k loss.Kind, t loss.Tuples) loss.Tuples {
	switch k {
	case loss.Triplets:
		return loss.Tuples{Triplets: t.Triplets, Labels: t.Labels} // for those WithLabels
	case loss.Labels:
		return loss.Tuples{Labels: t.Labels, Items: t.Items}
	}
	return loss.Tuples{Pairs: t.Pairs}
}

// grid draws an array of multiples of 2^-10, so that steps of that size are exact in
// float32.
func grid(r *rng.Stream, rows, cols int) *array.Array {
	z := array.New(rows, cols)
	for i := range z.Data {
		z.Data[i] = onGrid(r.NormFloat64() * 0.5)
	}
	return z
}

func onGrid(v float64) float32 { return float32(math.Round(v*1024) / 1024) }

func (c problem) fail(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Errorf("%+v, %s: %s", c.o, c.name, fmt.Sprintf(format, args...))
}

// build returns a new loss.
func (c problem) build(t testing.TB) loss.Objective {
	t.Helper()
	l, err := c.o.New()
	if err != nil {
		t.Fatalf("%+v: %v", c.o, err)
	}
	p, ok := l.(loss.Parametric)
	if _, learned := c.o.(loss.Learned); learned != ok {
		t.Fatalf("%+v: only the loss or its options say that it has parameters", c.o)
	}
	if ok {
		if err := p.Begin(c.z.Cols(), classes, rng.New(6, "losstest")); err != nil {
			t.Fatalf("%+v: %v", c.o, err)
		}
		for _, p := range p.Params() {
			for i, v := range p.Value.Data {
				p.Value.Data[i] = onGrid(float64(v))
			}
		}
	}
	return l
}

// classes are those of parameters; the last occurs in no batch.
const classes = 4

// params are the parameters of l that are trained, if it has any.
func params(l loss.Objective) (out []*nn.Param) {
	if p, ok := l.(loss.Parametric); ok {
		for _, p := range p.Params() {
			if p.Trained() {
				out = append(out, p)
			}
		}
	}
	return out
}

// eval evaluates l on z.
func (c problem) eval(t testing.TB, l loss.Objective, z, grad *array.Array) loss.Result {
	t.Helper()
	res, err := l.Eval(z, &c.tuples, grad)
	if err != nil {
		t.Fatalf("%+v, %s: %v", c.o, c.name, err)
	}
	return res
}

// gradient compares the gradient with central differences of two step lengths. Where
// these disagree there is a kink between, and the coordinate is left out.
func (c problem) gradient(t testing.TB) {
	t.Helper()
	l, grad := c.build(t), c.z.Clone()
	res := c.eval(t, l, c.z, grad)
	if plain := c.eval(t, l, c.z, nil); plain != res {
		c.fail(t, "%+v with a gradient, %+v without", res, plain)
	}
	if d, ok := c.o.(loss.Detached); ok && d.Detached() {
		return // its own test has the derivatives
	}
	z := c.z.Clone()
	value := func() float64 { return c.eval(t, l, z, nil).Loss }
	c.differences(t, "gradient", z.Data, grad.Data, value)
	for _, p := range params(l) {
		c.differences(t, "gradient of "+p.Name, p.Value.Data, p.Grad.Data, value)
	}
}

// differences compares grad with those of value when the numbers of x move.
func (c problem) differences(t testing.TB, name string, x, grad []float32, value func() float64) {
	t.Helper()
	scale, compared := 0.0, 0
	for _, g := range grad {
		scale = max(scale, math.Abs(float64(g)))
	}
	at := func(k int, step float64) float64 {
		was := x[k]
		x[k] = float32(float64(was) + step)
		v := value()
		x[k] = was
		return v
	}
	for k := range x {
		const h = 1. / 1024
		wide, narrow := (at(k, 2*h)-at(k, -2*h))/(4*h), (at(k, h)-at(k, -h))/(2*h)
		want := narrow + (narrow-wide)/3
		if math.Abs(narrow-wide) > 0.002*(math.Abs(narrow)+scale) {
			continue
		}
		compared++
		if got := float64(grad[k]); math.Abs(got-want) > 0.003*(math.Abs(want)+scale) {
			c.fail(t, "%s %d is %v, differences give %v", name, k, got, want)
		}
	}
	if compared < len(x)*2/3 {
		c.fail(t, "%s: only %d of %d coordinates are away from kinks", name, compared, len(x))
	}
}

// order shuffles rows, tuples and the ends of pairs.
func (c problem) order(t testing.TB) {
	t.Helper()
	if _, ok := c.o.(loss.Ordered); ok {
		return
	}
	r := rng.New(2, "losstest")
	rows := c.z.Rows()
	perm := r.Perm(rows)
	s := problem{o: c.o, name: c.name + ", shuffled", z: array.New(c.z.Shape...)}
	for i := range rows {
		copy(s.z.Row(perm[i]), c.z.Row(i))
	}
	for i := range c.tuples.Labels {
		if i == 0 {
			s.tuples.Labels = make([]int32, rows)
		}
		s.tuples.Labels[perm[i]] = c.tuples.Labels[i]
	}
	for i := range c.tuples.Items {
		if i == 0 {
			s.tuples.Items = make([]uint64, rows)
		}
		s.tuples.Items[perm[i]] = c.tuples.Items[i]
	}
	for _, i := range r.Perm(len(c.tuples.Triplets)) {
		x := c.tuples.Triplets[i]
		s.tuples.Triplets = append(s.tuples.Triplets, loss.Triplet{A: int32(perm[x.A]), P: int32(perm[x.P]), N: int32(perm[x.N])})
	}
	for n, i := range r.Perm(len(c.tuples.Pairs)) {
		x := c.tuples.Pairs[i]
		p := loss.Pair{I: int32(perm[x.I]), J: int32(perm[x.J]), Similar: x.Similar}
		if n%2 == 1 {
			p.I, p.J = p.J, p.I
		}
		s.tuples.Pairs = append(s.tuples.Pairs, p)
	}
	before, after := c.z.Clone(), s.z.Clone()
	l, m := c.build(t), s.build(t)
	a, b := c.eval(t, l, c.z, before), s.eval(t, m, s.z, after)
	for i, p := range params(l) {
		for k, want := range p.Grad.Data {
			if got := params(m)[i].Grad.Data[k]; !near(float64(got), float64(want), 1e-5) {
				s.fail(t, "gradient of %s, number %d: %v, before %v", p.Name, k, got, want)
			}
		}
	}
	if !near(a.Loss, b.Loss, 1e-12) || a.Tuples != b.Tuples || a.Active != b.Active || !near(a.Positive, b.Positive, 1e-12) || !near(a.Negative, b.Negative, 1e-12) {
		s.fail(t, "%+v, before %+v", b, a)
	}
	for i := range rows {
		for k, want := range before.Row(i) {
			if got := after.Row(perm[i])[k]; !near(float64(got), float64(want), 1e-5) {
				s.fail(t, "gradient of row %d, number %d: %v, before %v", i, k, got, want)
			}
		}
	}
}

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(a)+math.Abs(b)) }

// refuses gives the loss what it must not take.
func (c problem) refuses(t testing.TB) {
	t.Helper()
	l := c.build(t)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		z := c.z.Clone()
		row := 1
		if len(c.tuples.Triplets) > 0 {
			row = int(c.tuples.Triplets[0].P)
		} else if len(c.tuples.Pairs) > 0 {
			row = int(c.tuples.Pairs[0].J)
		}
		z.Row(row)[1] = float32(bad)
		if _, err := l.Eval(z, &c.tuples, z.Clone()); !errors.Is(err, loss.ErrNonFinite) {
			c.fail(t, "%v in row %d: error %v, want %v", bad, row, err, loss.ErrNonFinite)
		}
	}
	for _, outside := range []int32{-1, int32(c.z.Rows())} {
		s := c
		if c.o.Takes() == loss.Labels {
			c.refusesLabels(t, l, outside)
			continue
		}
		if len(c.tuples.Triplets) > 0 {
			s.tuples.Triplets = append([]loss.Triplet{{A: 0, P: 1, N: outside}}, c.tuples.Triplets...)
		} else {
			s.tuples.Pairs = append([]loss.Pair{{I: 0, J: outside}}, c.tuples.Pairs...)
		}
		if _, err := l.Eval(s.z, &s.tuples, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row %d is outside the batch of %d", outside, c.z.Rows())) {
			c.fail(t, "row %d: %v", outside, err)
		}
	}
	if _, err := l.Eval(c.z, &c.tuples, array.New(c.z.Cols(), c.z.Rows())); err == nil || !strings.Contains(err.Error(), "gradient is") {
		c.fail(t, "a gradient of another shape: %v", err)
	}
	if _, err := l.Eval(array.New(2, 3, 1, 1), &c.tuples, nil); err == nil || !strings.Contains(err.Error(), "embeddings is") {
		c.fail(t, "embeddings of four axes: %v", err)
	}
	if c.eval(t, l, c.z, nil) != c.eval(t, c.build(t), c.z, nil) {
		c.fail(t, "another value after errors")
	}
}

// refusesLabels gives the loss a label that it has no parameters for, and too few labels.
func (c problem) refusesLabels(t testing.TB, l loss.Objective, label int32) {
	t.Helper()
	s := c
	s.tuples.Labels = c.tuples.Labels[1:]
	if _, err := l.Eval(s.z, &s.tuples, nil); err == nil || !strings.Contains(err.Error(), "9 labels for a batch of 10") {
		c.fail(t, "a label too few: %v", err)
	}
	if params(l) == nil {
		return
	}
	s.tuples.Labels = append([]int32{label}, s.tuples.Labels...)
	if _, err := l.Eval(s.z, &s.tuples, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("row 0 of the batch has label %d", label)) {
		c.fail(t, "label %d of %d classes: %v", label, classes, err)
	}
}

// threads compares the bits of a large batch for numbers of threads.
func (c problem) threads(t testing.TB) {
	t.Helper()
	defer par.SetThreads(0)
	big := c
	big.z = grid(rng.New(3, "losstest"), c.z.Rows(), 700) // many columns: few rows to a thread
	var first loss.Result
	var want []float32 // of the rows, then of the parameters
	for _, n := range []int{1, 2, 5} {
		par.SetThreads(n)
		grad := big.z.Clone()
		l := big.build(t)
		res := big.eval(t, l, big.z, grad)
		all := slices.Clone(grad.Data)
		for _, p := range params(l) {
			all = append(all, p.Grad.Data...)
		}
		if n == 1 {
			first, want = res, all
			continue
		}
		if res != first {
			c.fail(t, "%d threads: %+v, one: %+v", n, res, first)
		}
		for k, g := range all {
			if math.Float32bits(g) != math.Float32bits(want[k]) {
				c.fail(t, "%d threads: gradient %d is %v, one: %v", n, k, g, want[k])
				break
			}
		}
	}
}

// allocates counts the allocations of later batches.
func (c problem) allocates(t testing.TB) {
	t.Helper()
	defer par.SetThreads(0)
	par.SetThreads(1)
	l, grad, tuples := c.build(t), c.z.Clone(), &c.tuples
	if n := testing.AllocsPerRun(10, func() { l.Eval(c.z, tuples, grad) }); n != 0 {
		c.fail(t, "%v allocations a batch", n)
	}
}

// nothing evaluates no tuples, tuples of the other kind, and no rows.
func nothing(t testing.TB, o loss.Options) {
	t.Helper()
	c := problem{o: o, name: "no tuples", z: grid(rng.New(4, "losstest"), 4, 3)}
	c.tuples.Pairs = []loss.Pair{{I: 0, J: 1}}
	if o.Takes() != loss.Triplets {
		c.tuples = loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}}
	}
	grad := c.z.Clone()
	if res := c.eval(t, c.build(t), c.z, grad); res != (loss.Result{}) {
		c.fail(t, "%+v", res)
	}
	for _, g := range grad.Data {
		if g != 0 {
			c.fail(t, "the gradient is not zero")
			break
		}
	}
	if res := c.eval(t, c.build(t), array.New(0, 3), array.New(0, 3)); res != (loss.Result{}) {
		c.fail(t, "no rows: %+v", res)
	}
}
