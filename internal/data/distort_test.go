package data

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// plainWarp is the warp in float64, from its definition: the displacement is a
// sum over all nodes, the pixel a sum over all pixels, with tent weights.
func plainWarp(m *warp, src []float32, h, w, c int) []float64 {
	tent := func(d float64) float64 { return max(0, 1-math.Abs(d)) }
	smooth := func(t float64) float64 { return t * t * (3 - 2*t) }
	out := make([]float64, len(src))
	for y := range h {
		for x := range w {
			dx, dy := float64(x)-float64(w-1)/2, float64(y)-float64(h-1)/2
			sx := float64(m.xx)*dx + float64(m.xy)*dy + float64(w-1)/2 + float64(m.x)
			sy := float64(m.yx)*dx + float64(m.yy)*dy + float64(h-1)/2 + float64(m.y)
			for i := range warpGrid {
				for j := range warpGrid {
					wt := smooth(tent(float64(x)*(warpGrid-1)/float64(w-1)-float64(j))) * smooth(tent(float64(y)*(warpGrid-1)/float64(h-1)-float64(i)))
					sx += wt * float64(m.bend[i][j][0])
					sy += wt * float64(m.bend[i][j][1])
				}
			}
			sx, sy = min(max(sx, 0), float64(w-1)), min(max(sy, 0), float64(h-1))
			for i := range h {
				for j := range w {
					wt := tent(sy-float64(i)) * tent(sx-float64(j))
					for k := range c {
						out[(y*w+x)*c+k] += wt * float64(src[(i*w+j)*c+k])
					}
				}
			}
		}
	}
	return out
}

func randomImage(n int, r *rng.Stream) []float32 {
	img := make([]float32, n)
	for i := range img {
		img[i] = r.Float32()
	}
	return img
}

func TestWarpAgainstPlainLoop(t *testing.T) {
	for _, s := range [][3]int{{28, 28, 1}, {7, 11, 3}, {2, 2, 1}, {2, 9, 2}, {13, 3, 1}, {32, 32, 3}} {
		h, w, c := s[0], s[1], s[2]
		for k, strength := range []float64{0, 0.25, 1, 1} {
			r := rng.New(uint64(k), "warp test", uint64(h))
			src, got := randomImage(h*w*c, r), make([]float32, h*w*c)
			var m warp
			m.draw(strength, h, w, r)
			m.apply(got, src, h, w, c)
			for i, v := range plainWarp(&m, src, h, w, c) {
				if math.Abs(float64(got[i])-v) > 2e-5 {
					t.Fatalf("%v strength %v: value %d is %v, want %v", s, strength, i, got[i], v)
				}
			}
			if strength == 0 && !slices.Equal(got, src) {
				t.Errorf("%v: strength 0 changes pixels", s)
			}
		}
	}
}

// Maps whose result is known pixel by pixel.
func TestWarpKnownMaps(t *testing.T) {
	const h, w, c = 5, 5, 2
	src, got := randomImage(h*w*c, rng.New(1, "known")), make([]float32, h*w*c)
	for _, k := range []struct {
		name string
		m    warp
		from func(y, x int) (int, int)
	}{
		{"identity", warp{xx: 1, yy: 1}, func(y, x int) (int, int) { return y, x }},
		{"shift, border goes on", warp{xx: 1, yy: 1, x: 2, y: -1}, func(y, x int) (int, int) { return max(y-1, 0), min(x+2, w-1) }},
		{"quarter turn", warp{xy: -1, yx: 1}, func(y, x int) (int, int) { return x, w - 1 - y }},
		{"mirror", warp{xx: -1, yy: 1}, func(y, x int) (int, int) { return y, w - 1 - x }},
		{"far away", warp{xx: 1, yy: 1, x: 1e9, y: -1e9}, func(y, x int) (int, int) { return 0, w - 1 }},
	} {
		k.m.apply(got, src, h, w, c)
		for y := range h {
			for x := range w {
				fy, fx := k.from(y, x)
				if !slices.Equal(got[(y*w+x)*c:][:c], src[(fy*w+fx)*c:][:c]) {
					t.Errorf("%s: pixel %d,%d is not that of %d,%d", k.name, y, x, fy, fx)
				}
			}
		}
	}
	m := warp{xx: 1, yy: 1} // the nodes of a 5x5 image are its pixels
	m.bend[3][1] = [2]float32{2, -3}
	m.apply(got, src, h, w, c)
	for y := range h {
		for x := range w {
			fy, fx := y, x
			if y == 3 && x == 1 {
				fy, fx = 0, 3
			}
			if !slices.Equal(got[(y*w+x)*c:][:c], src[(fy*w+fx)*c:][:c]) {
				t.Errorf("one node: pixel %d,%d is not that of %d,%d", y, x, fy, fx)
			}
		}
	}
}

// Amplitudes are kept and reached, centered, and scale with the strength.
func TestWarpAmplitudes(t *testing.T) {
	const h, w, n = 20, 40, 4000
	for _, strength := range []float64{0.25, 0.5, 1} {
		type extent struct{ min, max, sum float64 }
		stat := map[string]*extent{}
		note := func(name string, v float64) {
			e := stat[name]
			if e == nil {
				e = &extent{math.Inf(1), math.Inf(-1), 0}
				stat[name] = e
			}
			e.min, e.max, e.sum = min(e.min, v), max(e.max, v), e.sum+v
		}
		for i := range n {
			var m warp
			m.draw(strength, h, w, rng.New(1, "amplitudes", uint64(i)))
			xx, xy, yx, yy := float64(m.xx), float64(m.xy), float64(m.yx), float64(m.yy)
			// The matrix is rotation * [[1 shear] [0 1]] * diag(wide, high).
			angle, wide := math.Atan2(yx, xx), math.Hypot(xx, yx)
			high := (xx*yy - xy*yx) / wide
			note("angle", angle)
			note("wide", wide-1)
			note("high", high-1)
			note("shear", (math.Cos(angle)*xy+math.Sin(angle)*yy)/high)
			note("x", float64(m.x))
			note("y", float64(m.y))
			note("bend x", float64(m.bend[i%5][i%4][0]))
			note("bend y", float64(m.bend[i%4][i%5][1]))
		}
		for name, most := range map[string]float64{
			"angle": 2 * math.Atan(strength*math.Tan(math.Pi/12)), "wide": 0.25 * strength, "high": 0.25 * strength, "shear": 0.3 * strength,
			"x": 4 * strength, "y": 2 * strength, "bend x": 1.4 * strength, "bend y": 1.4 * strength,
		} {
			e := stat[name]
			// Uniform in [-most, most], nearly so for the angle: the extremes of 4000
			// are within 1 % of the ends, the mean within 4.5 deviations of 0.
			if e.max > most*1.0001 || e.min < -most*1.0001 || e.max < 0.99*most || e.min > -0.99*most || math.Abs(e.sum/n) > 4.5*most/math.Sqrt(3*n) {
				t.Errorf("strength %v: %s is in [%v, %v], mean %v; want up to %v", strength, name, e.min, e.max, e.sum/n, most)
			}
		}
	}
}

func distort(t *testing.T, ds Dataset, o DistortOptions) Dataset {
	t.Helper()
	out, err := Distorted(ds, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alike is a dataset whose images are all the same.
func alike(t *testing.T, n int) Dataset {
	t.Helper()
	one := toy(t, 9, 8, 1, 1, 1)
	ds, err := Subset(one, make([]int, n))
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func TestDistortedIsFixedByItem(t *testing.T) {
	defer par.SetThreads(0)
	ds := alike(t, 40)
	o := DistortOptions{Strength: 0.5, Seed: 3}
	d := distort(t, ds, o)
	ids := make([]int, ds.Len())
	for i := range ids {
		ids[i] = i
	}
	var want *array.Array
	for _, threads := range []int{1, 3} {
		par.SetThreads(threads)
		got := array.New(len(ids), 9, 8, 1)
		if err := Gather(t.Context(), d, ids, got); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%d threads give other pixels", threads)
		}
		if p := testutil.Fingerprint(t, distort(t, ds, o)); p != testutil.Fingerprint(t, d) {
			t.Errorf("%d threads give another fingerprint", threads)
		}
	}
	src, dst := make([]float32, 72), make([]float32, 72)
	for i := range ids {
		if err := ds.Read(i, src); err != nil {
			t.Fatal(err)
		}
		var by warp
		by.draw(0.5, 9, 8, rng.New(3, "data/distort", uint64(i)))
		by.apply(dst, src, 9, 8, 1)
		if !slices.Equal(dst, want.Row(i)) {
			t.Fatalf("item %d is not what its stream draws", i)
		}
		if i > 0 && slices.Equal(want.Row(i), want.Row(0)) {
			t.Errorf("items 0 and %d are alike", i)
		}
	}
	if !reflect.DeepEqual(d.Labels(), ds.Labels()) || !reflect.DeepEqual(d.Classes(), ds.Classes()) || d.Len() != ds.Len() {
		t.Error("labels or classes differ")
	}

	prints := map[string]string{testutil.Fingerprint(t, ds): "undistorted"}
	for _, o := range []DistortOptions{o, {Strength: 0.5, Seed: 4}, {Strength: 0.51, Seed: 3}} {
		p := testutil.Fingerprint(t, distort(t, ds, o))
		if was, ok := prints[p]; ok {
			t.Errorf("%+v has the fingerprint of %s", o, was)
		}
		prints[p] = fmt.Sprint(o)
		if want, err := Digest(t.Context(), distort(t, ds, o)); err != nil || want != p {
			t.Errorf("%+v: fingerprint %s, digest %s, %v", o, p, want, err)
		}
	}
	o.Fresh = true
	if testutil.Fingerprint(t, distort(t, ds, o)) != testutil.Fingerprint(t, d) {
		t.Error("Fresh changes what Read gives")
	}
	o.Strength = 0
	if distort(t, ds, o) != ds {
		t.Error("strength 0 does not give the set back")
	}
}

// Fresh distortions against the definition, through views and joined sets.
func TestDistortsAnew(t *testing.T) {
	base := toy(t, 9, 8, 2, 7, 7)
	d := distort(t, base, DistortOptions{Strength: 0.7, Seed: 5, Fresh: true})
	idx := []int{3, 1, 4, 1, 5, 9, 2, 6, 13, 0}
	part, err := Subset(d, idx)
	if err != nil {
		t.Fatal(err)
	}
	y := slices.Clone(part.Labels())
	y[0] = 1 - y[0]
	noisy, err := Relabel(part, y, part.Classes())
	if err != nil {
		t.Fatal(err)
	}
	both, err := Concat(noisy, base) // base as it is
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		ds    Dataset
		item  func(i int) int // of base
		fresh func(i int) bool
	}{
		{"set", d, func(i int) int { return i }, func(int) bool { return true }},
		{"view", noisy, func(i int) int { return idx[i] }, func(int) bool { return true }},
		{"joined", both, func(i int) int {
			if i >= len(idx) {
				return i - len(idx)
			}
			return idx[i]
		}, func(i int) bool { return i < len(idx) }},
	} {
		if !Redraws(c.ds) {
			t.Errorf("%s: does not draw again", c.name)
		}
		got, want, src := make([]float32, 144), make([]float32, 144), make([]float32, 144)
		for i := range c.ds.Len() {
			for _, k := range []Draw{{Seed: 11}, {Seed: 11, Epoch: 2}, {Seed: 11, Step: 3}, {Seed: 11, Row: 1}, {12, 2, 3, 1}} {
				if err := base.Read(c.item(i), src); err != nil {
					t.Fatal(err)
				}
				copy(want, src)
				if c.fresh(i) {
					var by warp
					by.draw(0.7, 9, 8, rng.New(5, "data/distort fresh", k.Seed, uint64(k.Epoch), uint64(k.Step), uint64(k.Row)))
					by.apply(want, src, 9, 8, 2)
				}
				if err := ReadAnew(c.ds, i, got, k); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%s, item %d, %+v: other pixels, %v", c.name, i, k, err)
				}
			}
		}
	}
	// The same item looks different in every drawing; Read does not change.
	a, b, f := make([]float32, 144), make([]float32, 144), make([]float32, 144)
	for i := range 14 {
		for _, err := range []error{ReadAnew(d, i, a, Draw{Row: i}), ReadAnew(d, i, b, Draw{Row: i, Epoch: 1}), d.Read(i, f)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if slices.Equal(a, b) || slices.Equal(a, f) || slices.Equal(b, f) {
			t.Errorf("item %d is drawn twice", i)
		}
	}
}

// A fixed distortion is the same in every drawing.
func TestFixedDistortionIsKept(t *testing.T) {
	d := distort(t, toy(t, 6, 6, 1, 4, 4), DistortOptions{Strength: 1})
	if Redraws(d) {
		t.Error("a fixed distortion is drawn again")
	}
	got, want := make([]float32, 36), make([]float32, 36)
	for i := range d.Len() {
		for _, err := range []error{ReadAnew(d, i, got, Draw{7, i, 0, i}), d.Read(i, want)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("item %d differs", i)
		}
	}
}

func TestDistortErrors(t *testing.T) {
	ds := toy(t, 4, 4, 1, 3, 3)
	for _, s := range []float64{-0.1, 1.01, math.NaN(), math.Inf(1)} {
		_, err := Distorted(ds, DistortOptions{Strength: s})
		testutil.WantError(t, err, nil, "strength", "0 to 1")
	}
	for _, s := range [][2]int{{1, 9}, {9, 1}} {
		_, err := Distorted(toy(t, s[0], s[1], 1, 3, 3), DistortOptions{Strength: 0.5})
		testutil.WantError(t, err, ErrUnfit, fmt.Sprintf("%dx%d", s[0], s[1]))
	}
	d := distort(t, broken{ds, 2}, DistortOptions{Strength: 0.5})
	dst := make([]float32, 16)
	for _, i := range []int{-1, 6} {
		testutil.WantError(t, d.Read(i, dst), nil, fmt.Sprintf("item %d of a dataset of 6", i))
	}
	testutil.WantError(t, d.Read(0, dst[:15]), array.ErrShape)
	testutil.WantError(t, d.Read(2, dst), errDisk)
}

func TestDistortionAllocatesNothing(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		d := distort(t, toy(t, 8, 8, 3, 40, 40), DistortOptions{Strength: 0.5, Fresh: fresh})
		dst, i := make([]float32, 192), 0
		step := func() {
			if err := ReadAnew(d, i%d.Len(), dst, Draw{Row: i}); err != nil {
				t.Fatal(err)
			}
			i++
		}
		step()
		if n := testing.AllocsPerRun(150, step); n != 0 {
			t.Errorf("fresh %v: %v allocations an item", fresh, n)
		}
	}
}

// The pixels of a seed are the same on every machine: these are also what a
// build with fused multiply-add (GOAMD64=v3) gives.
func TestDistortedGolden(t *testing.T) {
	for _, c := range []struct {
		ds       Dataset
		strength float64
		want     string
	}{
		{toy(t, 28, 28, 1, 300, 300), 0.83, "6bfd525272f90b8f7274fa639cb0c78f61ac45a9e5ec84f9d1daf18893d4cbc8"},
		{toy(t, 17, 31, 3, 300, 300), 0.37, "0daf47e95e1c97bf251b6995853aff71adb547f187f557aea9da161093c35196"},
	} {
		if got := testutil.Fingerprint(t, distort(t, c.ds, DistortOptions{Strength: c.strength, Seed: 9})); got != c.want {
			t.Errorf("strength %v: fingerprint %s, want %s", c.strength, got, c.want)
		}
	}
}
