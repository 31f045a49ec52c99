package kernel

import (
	"math"
	"testing"

	"tercet/internal/rng"
)

// On each level, against float64, with the bits of Generic, and within its slices.
func TestDistanceRow(t *testing.T) {
	const near = 0x1p-10
	for _, l := range Levels() {
		for _, n := range []int{0, 1, 7, 16, 31, 64, 100, 131} {
			r := rng.New(uint64(n), "rows")
			y2, _ := guarded(t, r, n)
			row, check := guarded(t, r, n)
			x2 := float32(1.5)
			for j := range row {
				y2[j] = 1 + y2[j]*y2[j]
				row[j] = min(row[j], 0.49*(x2+y2[j]))
				switch j % 9 {
				case 3:
					row[j] = (x2 + y2[j]) / 2 // coincident
				case 5:
					row[j] = (x2 + y2[j]) * 0.4999
				case 7:
					row[j] = x2 + y2[j] // rounding gone too far: clamped
				}
			}
			want := append([]float32(nil), row...)
			flag := false
			for j := range want {
				s := math.Max(float64(x2)+float64(y2[j])-2*float64(want[j]), 0)
				close := s < near*(float64(x2)+float64(y2[j]))
				flag = flag || close
				want[j] = float32(math.Sqrt(s))
				if close {
					want[j] = -want[j]
				}
			}
			c := append([]float32(nil), row...)
			restore, err := Force(l)
			if err != nil {
				t.Fatal(err)
			}
			got := DistanceRow(x2, near, y2, row)
			restore()
			check("DistanceRow")
			if got != flag {
				t.Errorf("%v, n %d: flag %v", l, n, got)
			}
			if rootsGeneric(x2, near, y2, c) > 0 != flag {
				t.Errorf("n %d: flag of Generic", n)
			}
			for j, v := range row {
				if math.Float32bits(v) != math.Float32bits(c[j]) {
					t.Errorf("%v, n %d: element %d is %v, Generic has %v", l, n, j, v, c[j])
				}
				if math.Signbit(float64(v)) != math.Signbit(float64(want[j])) || math.Abs(float64(v*v-want[j]*want[j])) > 1e-6*float64(x2+y2[j]) {
					t.Errorf("%v, n %d: element %d is %v, want %v", l, n, j, v, want[j])
				}
			}
		}
	}
	nan := []float32{float32(math.NaN())}
	if DistanceRow(1, near, []float32{1}, nan); nan[0] == nan[0] {
		t.Error("NaN lost")
	}
}

func TestHinges(t *testing.T) {
	for _, l := range Levels() {
		for _, n := range []int{0, 1, 63, 64, 65, 128, 200, 261} {
			for _, m := range []int{0, 1, 2, 5, 17} {
				r := rng.New(uint64(n), "hinges", uint64(m))
				d, _ := guarded(t, r, n)
				w, check := guarded(t, r, n)
				for j := range d {
					d[j] = max(0, d[j])
				}
				h := Hinges{Base: float32(m % 3), Cut: make([]float32, m), Add: make([]float32, m), Count: make([]int32, m)}
				for c := range h.Cut {
					h.Cut[c], h.Add[c] = float32(r.Uniform(0, 2)), float32(c%4)-1.5
					if n > 0 && c%2 == 0 {
						h.Cut[c] = d[c%n] // equal is not below
					}
				}
				restore, err := Force(l)
				if err != nil {
					t.Fatal(err)
				}
				h.Row(d, w)
				restore()
				check("Hinges")
				var values, weights, size float64
				count := make([]int32, m)
				for j, v := range d {
					f := float64(h.Base)
					for c, cut := range h.Cut {
						if v < cut {
							f += float64(h.Add[c])
							count[c]++
						}
					}
					want := 0.0
					if v > 0 {
						want = f / float64(v)
					}
					if math.Abs(float64(w[j])-want) > 1e-7*math.Abs(want) {
						t.Errorf("%v, n %d, m %d: weight %d is %v, want %v", l, n, m, j, w[j], want)
					}
					values += f * float64(v)
					weights += want
					size += math.Abs(want)
				}
				for c := range count {
					if h.Count[c] != count[c] {
						t.Errorf("%v, n %d, m %d: %d distances below cut %d, want %d", l, n, m, h.Count[c], c, count[c])
					}
				}
				gotValues, gotWeights := h.Total()
				if math.Abs(gotValues-values) > 1e-12*(1+math.Abs(values)) || math.Abs(gotWeights-weights) > 1e-7*(1+size) {
					t.Errorf("%v, n %d, m %d: sums %v and %v, want %v and %v", l, n, m, gotValues, gotWeights, values, weights)
				}
				sums, out := h.Sums, make([]float32, n)
				clear(h.Count)
				h.Sums = [2][exactLanes]float64{}
				hingesGeneric(&h, d, out)
				if h.Sums != sums {
					t.Errorf("%v, n %d, m %d: sums differ from those of Generic", l, n, m)
				}
				for j := range out {
					if math.Float32bits(out[j]) != math.Float32bits(w[j]) {
						t.Errorf("%v, n %d, m %d: weight %d differs from that of Generic", l, n, m, j)
					}
				}
				copy(out, d)
				h.Row(out, out)
				for j := range out {
					if out[j] != w[j] {
						t.Errorf("%v, n %d, m %d: in place, weight %d is %v, want %v", l, n, m, j, out[j], w[j])
					}
				}
			}
		}
	}
}

func TestAddWeighted(t *testing.T) {
	for _, l := range Levels() {
		for _, d := range []int{1, 15, 16, 40, 67} {
			const n = 23
			r := rng.New(uint64(d), "weighted")
			x, _ := guarded(t, r, n*d)
			y, check := guarded(t, r, d)
			w := make([]float32, n)
			want := make([]float64, d)
			for k, v := range y {
				want[k] = float64(v)
			}
			for j := range w {
				if j%3 == 0 {
					w[j] = float32(r.NormFloat64())
				} else {
					x[j*d] = float32(math.NaN()) // not to be read
				}
				for k := range d {
					if w[j] != 0 {
						want[k] += float64(w[j]) * float64(x[j*d+k])
					}
				}
			}
			restore, err := Force(l)
			if err != nil {
				t.Fatal(err)
			}
			AddWeighted(w, x, y)
			restore()
			check("AddWeighted")
			closeTo(t, "AddWeighted", y, want, 1e-5)
		}
	}
}

func TestHingesPanicOnWhatDoesNotFit(t *testing.T) {
	for name, f := range map[string]func(){
		"count": func() {
			(&Hinges{Cut: make([]float32, 2), Add: make([]float32, 2), Count: make([]int32, 1)}).Row(nil, nil)
		},
		"weights": func() { (&Hinges{}).Row(make([]float32, 3), make([]float32, 2)) },
		"rows":    func() { AddWeighted(make([]float32, 2), make([]float32, 5), make([]float32, 3)) },
		"lengths": func() { DistanceRow(1, 0, make([]float32, 2), make([]float32, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
