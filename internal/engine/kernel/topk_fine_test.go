package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tercet/internal/engine/kernel"
)

// Near finds all pairs whose exact product is above what they need by more than the error,
// none that is below by more, and products within the error, which is small.
func TestFineNear(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 14))
		for _, s := range [][3]int{{1, 1, 1}, {3, 64, 2}, {33, 70, 64}, {140, 300, 128}, {20, 100, 200}, {5, 30, 1030}} {
			m, n, d := s[0], s[1], s[2]
			for _, stretched := range []bool{false, true} {
				x := normal(r, make([]float32, (m+n)*d))
				for i := range x {
					switch i / d % 11 {
					case 3:
						x[i] *= 1e-3
					case 5:
						x[i] = 0
					case 7:
						x[i] *= 1e-38
					case 8:
						x[i] *= 30
					}
				}
				by := make([]float32, m+n)
				for i := range by {
					by[i] = 1
					if stretched {
						by[i] = float32(i%5) / 3
					}
				}
				var rows kernel.FineRows
				var cols kernel.FineColumns
				rows.Round(m+n, d, normal(r, make([]float32, (m+n)*d))) // memory that is used again
				rows.Round(m+n, d, x)
				if stretched {
					rows.Stretch(by)
				}
				cols.Pack(&rows, m, m+n)
				width := (n + 63) / 64 * 64
				near := kernel.Nearness{Reach: normal(r, make([]float32, m)), OtherReach: normal(r, make([]float32, m)), Need: normal(r, make([]float32, width)), OtherNeed: normal(r, make([]float32, width))}
				for j := range width {
					near.Need[j], near.OtherNeed[j] = near.Need[j]*10+8, near.OtherNeed[j]*10+9
					if j >= n {
						near.Need[j], near.OtherNeed[j] = float32(math.Inf(1)), float32(math.Inf(1))
					}
				}
				near.Reach[m-1] = float32(math.Inf(-1))
				var pairs kernel.NearPairs
				found := map[[2]int]float32{}
				var e float64
				for lo := 0; lo < width; lo += 128 {
					hi := min(lo+128, width)
					part := kernel.Nearness{Reach: near.Reach, OtherReach: near.OtherReach, Need: near.Need[lo:], OtherNeed: near.OtherNeed[lo:]}
					cols.Near(&rows, 0, m, lo, hi, &part, &pairs)
					e = max(e, cols.Error(&rows, 0, m, lo, hi))
					last := -1
					for k, i := range pairs.Row {
						at := int(i)*width + int(pairs.Col[k])
						if at <= last {
							t.Fatalf("%v: pair (%d, %d) out of order", s, i, pairs.Col[k])
						}
						last = at
						found[[2]int{int(i), lo + int(pairs.Col[k])}] = pairs.Dot[k]
					}
				}
				longest := 0.0
				for i := range m {
					for j := range n {
						var want, a, b float64
						for p := range d {
							u, v := float64(x[i*d+p])*float64(by[i]), float64(x[(m+j)*d+p])*float64(by[m+j])
							want, a, b = want+u*v, a+u*u, b+v*v
						}
						longest = max(longest, math.Sqrt(a*b))
						least := min(float64(near.Need[j])-float64(near.Reach[i]), float64(near.OtherNeed[j])-float64(near.OtherReach[i]))
						room := e + 1e-5*(math.Abs(want)+10)
						got, ok := found[[2]int{i, j}]
						if !ok && want >= least+room || ok && want < least-room {
							t.Fatalf("%v (%d, %d): near %t, product %v, least %v, error %v", s, i, j, ok, want, least, e)
						}
						if ok && math.Abs(float64(got)-want) > e {
							t.Fatalf("%v (%d, %d): %v, want %v within %v", s, i, j, got, want, e)
						}
					}
				}
				if len(found) == 0 && m > 30 || e > 1e-3*longest+1e-25 {
					t.Fatalf("%v: %d pairs, error %v of %v", s, len(found), e, longest)
				}
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 15))
		p := kernel.Places{Base: []int{0}}
		for q := range 40 {
			cuts := make([]float32, q%33)
			for i := range cuts {
				cuts[i] = float32(r.IntN(200)) / 8
			}
			slices.Sort(cuts)
			p.Cut = append(p.Cut, cuts...)
			p.Base = append(p.Base, len(p.Cut))
		}
		total := len(p.Cut)
		p.Cut = append(p.Cut, make([]float32, kernel.MostCuts)...)
		const n, items = 3000, 50
		dot, item, query, add := make([]float32, n), make([]int32, n), make([]int32, n), make([]float32, items)
		for i := range add {
			add[i] = float32(r.IntN(4))
		}
		for i := range dot {
			dot[i], item[i], query[i] = -float32(r.IntN(400))/32, int32(r.IntN(items)), int32(r.IntN(40))
		}
		for _, width := range []float32{0, .0625, 1} {
			want, got, unsure := make([]int32, total), make([]int32, total), []int32{}
			for e := range dot {
				key := add[item[e]] - 2*dot[e]
				cuts := p.Cut[p.Base[query[e]]:p.Base[query[e]+1]]
				low, high := 0, 0
				for _, c := range cuts {
					if c < key-width {
						low++
					}
					if c <= key+width {
						high++
					}
				}
				switch {
				case low != high:
					unsure = append(unsure, int32(e))
				case low < len(cuts):
					want[p.Base[query[e]]+low]++
				}
			}
			room, check := banded(n, int32(-5))
			left := p.Count(dot, item, query, -2, add, width, got, room)
			check(t, "unsure")
			if !slices.Equal(got, want) || !slices.Equal(left, unsure) || len(left) == 0 || len(left) == n {
				t.Fatalf("width %v: counts or the %d pairs left differ", width, len(left))
			}
		}
	})
}
