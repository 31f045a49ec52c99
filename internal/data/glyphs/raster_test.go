package glyphs

import (
	"math"
	"testing"

	"golang.org/x/image/font/sfnt"

	"tercet/internal/rng"
)

// A rectangle's coverage has a closed form; its edges here lie on sublines, so
// that sampling in y is exact too.
func TestRectangleCoverage(t *testing.T) {
	const size = 8
	lo, hi := point{-one / 2, -one + one/8}, point{one/4 + one/64, one / 2} // in pixels: x 2 to 5.0625, y 0.5 to 6
	for _, reverse := range []bool{false, true} {
		p := []point{{lo.x, lo.y}, {hi.x, lo.y}, {hi.x, hi.y}, {lo.x, hi.y}}
		if reverse {
			p[1], p[3] = p[3], p[1]
		}
		var r raster
		var out [size * size]int32
		r.reset(size)
		r.polygon(p, []int{4})
		r.fill(out[:], one)
		for y := range size {
			for x := range size {
				wx := max(0, min(float64(x+1), 5.0625)-max(float64(x), 2))
				wy := max(0, min(float64(y+1), 6)-max(float64(y), 0.5))
				if got := float64(out[y*size+x]) / one; math.Abs(got-wx*wy) > 1e-4 {
					t.Fatalf("pixel %d,%d: %v, want %v", x, y, got, wx*wy)
				}
			}
		}
	}
}

// inside is the non-zero winding rule in floating point, one ray per point.
func inside(points []point, ends []int, x, y float64) bool {
	winding, begin := 0, 0
	for _, e := range ends {
		for i := begin; i < e; i++ {
			p, q := points[i], points[begin+(i+1-begin)%(e-begin)]
			px, py, qx, qy := float64(p.x)/one, float64(p.y)/one, float64(q.x)/one, float64(q.y)/one
			if (py <= y) == (qy <= y) {
				continue
			}
			if px+(qx-px)*(y-py)/(qy-py) < x {
				if qy > py {
					winding++
				} else {
					winding--
				}
			}
		}
		begin = e
	}
	return winding != 0
}

// Random polygons that cross themselves, overlap and leave the frame, against
// 32 x 32 point samples per pixel.
func TestRasterAgainstPointSamples(t *testing.T) {
	rnd := rng.New(1, "raster")
	const size, per = 12, 32
	for trial := range 20 {
		var points []point
		var ends []int
		for range 1 + trial%3 {
			for range 3 + trial%5 {
				points = append(points, point{spread(rnd, 3*one/2), spread(rnd, 3*one/2)})
			}
			ends = append(ends, len(points))
		}
		var r raster
		var out [size * size]int32
		r.reset(size)
		r.polygon(points, ends)
		r.fill(out[:], one)
		total := 0.0
		for i, got := range out {
			n := 0
			for s := range per * per {
				x := (float64(i%size) + (float64(s%per)+0.5)/per) / size
				y := (float64(i/size) + (float64(s/per)+0.5)/per) / size
				if inside(points, ends, 2*x-1, 2*y-1) {
					n++
				}
			}
			d := math.Abs(float64(got)/one - float64(n)/per/per)
			total += d
			if d > 0.15 { // nearly horizontal edges between the 8 samples in y
				t.Fatalf("trial %d pixel %d: coverage %v, samples %v", trial, i, float64(got)/one, float64(n)/per/per)
			}
		}
		if mean := total / size / size; mean > 0.01 {
			t.Fatalf("trial %d: mean error %v", trial, mean)
		}
	}
}

func ink(o *outline, w *warp) float64 {
	var r raster
	var out [64 * 64]int32
	r.reset(64)
	r.polygon(w.apply(o, nil), o.ends)
	r.fill(out[:], one)
	sum := 0.0
	for _, v := range out {
		sum += float64(v) / one
	}
	return sum
}

// Weight moves all edges by the given distance: ink grows by perimeter times
// distance, also around a counter, and also in a face whose contours turn the
// other way.
func TestWeightMakesStrokesHeavier(t *testing.T) {
	faces, err := loadFaces()
	if err != nil {
		t.Fatal(err)
	}
	var buf sfnt.Buffer
	for f := range faces {
		for _, c := range "OB8§" {
			o, err := load(&faces[f], &buf, c)
			if err != nil || o == nil {
				t.Fatalf("%s %c: %v", faces[f].name, c, err)
			}
			perimeter, begin := 0.0, 0
			for _, e := range o.ends {
				for i := begin; i < e; i++ {
					p, q := o.points[i], o.points[begin+(i+1-begin)%(e-begin)]
					perimeter += math.Hypot(float64(q.x-p.x), float64(q.y-p.y)) / one * 0.7 * 32
				}
				begin = e
			}
			w := warp{xx: 7 * one / 10, yy: 7 * one / 10, scale: 7 * one / 10}
			plain := ink(o, &w)
			w.weight = one / 64 // half a pixel of 64
			heavy := ink(o, &w)
			w.weight = -one / 64
			light := ink(o, &w)
			for _, d := range []float64{heavy - plain, plain - light} {
				if want := perimeter / 2; d < 0.7*want || d > 1.3*want {
					t.Errorf("%s %c: ink changes by %.1f, want about %.1f", faces[f].name, c, d, want)
				}
			}
		}
	}
}

func TestBlurKeepsInkAndHasTheVariance(t *testing.T) {
	const size = 33
	b := brush{cover: make([]int32, size*size), spare: make([]int32, size*size)}
	b.cover[16*size+16] = one * 1000 // so that rounding does not matter
	variance := 3.3
	b.blur(int64(variance*one), size)
	sum, sx, sy := 0.0, 0.0, 0.0
	for i, v := range b.cover {
		x, y := float64(i%size-16), float64(i/size-16)
		sum += float64(v)
		sx += float64(v) * x * x
		sy += float64(v) * y * y
	}
	if math.Abs(sum/one/1000-1) > 1e-3 || math.Abs(sx/sum-variance) > 0.02 || math.Abs(sy/sum-variance) > 0.02 {
		t.Fatalf("sum %v, variances %v and %v", sum/one/1000, sx/sum, sy/sum)
	}
}

// Between grid lines the displacement stays within that of the corners.
func TestBendIsBoundedAndContinuous(t *testing.T) {
	rnd := rng.New(1, "bend")
	var w warp
	k := knobs{scaleMin: one, scaleMax: one, elastic: one / 10}
	w.draw(rnd, &k)
	last := point{}
	for i := int64(-2 * one); i <= 2*one; i += 256 {
		p := point{i, i / 3}
		q := w.bend(p)
		d := point{q.x - p.x, q.y - p.y}
		if abs(d.x) > one/10+2 || abs(d.y) > one/10+2 {
			t.Fatalf("at %v: moved by %v", p, d)
		}
		if i > -2*one && (abs(d.x-last.x) > 256 || abs(d.y-last.y) > 256) {
			t.Fatalf("at %v: a jump from %v to %v", p, last, d)
		}
		last = d
	}
}
