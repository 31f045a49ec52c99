package theory

import (
	"math"
	"testing"

	"tercet/internal/testutil"
)

// choices calls f with every choice of a partner class for n nodes, node i being of
// class i mod classes.
func choices(classes, n int, f func(partner []int)) (count float64) {
	partner := make([]int, n)
	var place func(i int)
	place = func(i int) {
		if i == n {
			f(partner)
			count++
			return
		}
		for step := 1; step < classes; step++ {
			partner[i] = (i + step) % classes
			place(i + 1)
		}
	}
	place(0)
	return count
}

// simpleCycles counts the cycles of m nodes in a multigraph, m from 2, by their edges.
func simpleCycles(classes, m int, edges [][2]int) float64 {
	found := 0.0
	for set := range 1 << len(edges) {
		degree, chosen := make([]int, classes), 0
		var first int
		next := make([][]int, classes)
		for e, ends := range edges {
			if set>>e&1 == 1 {
				chosen++
				for side, at := range ends {
					degree[at]++
					next[at] = append(next[at], ends[1-side])
				}
				first = ends[0]
			}
		}
		if chosen != m {
			continue
		}
		// A cycle of m edges: m nodes of degree two that hang together.
		nodes := 0
		for _, d := range degree {
			if d == 2 {
				nodes++
			}
		}
		if nodes != m {
			continue
		}
		seen := map[int]bool{first: true}
		for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
			for _, j := range next[queue[0]] {
				if !seen[j] {
					seen[j] = true
					queue = append(queue, j)
				}
			}
		}
		if len(seen) == m {
			found++
		}
	}
	return found
}

func TestCyclesAgreeWithEnumeration(t *testing.T) {
	const p = 0.2
	for _, classes := range []int{2, 3, 4, 5} {
		for _, c := range InconsistentCycles(classes, p) {
			m, sum, count := float64(c.Length), 0.0, 0.0
			if c.Indices == 1 {
				count = choices(classes, classes, func(partner []int) {
					var edges [][2]int
					for i, j := range partner {
						edges = append(edges, [2]int{i, j})
					}
					sum += simpleCycles(classes, c.Length, edges)
				})
				sum *= m * math.Pow(p, m-1) * (1 - p)
			} else if classes < 5 {
				count = choices(classes, 2*classes, func(partner []int) {
					var at [2]map[[2]int]float64
					for k := range at {
						at[k] = map[[2]int]float64{}
						for i := range classes {
							j := partner[k*classes+i]
							at[k][[2]int{min(i, j), max(i, j)}]++
						}
					}
					for e, n := range at[0] {
						sum += n * at[1][e]
					}
				})
				// Labels as they should be are similar, different, similar, different.
				bad := 0.0
				for labels := range 16 {
					different, chance := 0, 1.0
					for e := range 4 {
						wrong := labels>>e&1 == 1
						if wrong {
							chance *= p
						} else {
							chance *= 1 - p
						}
						if (e%2 == 1) != wrong {
							different++
						}
					}
					if different == 1 {
						bad += chance
					}
				}
				sum *= bad
			} else {
				continue // a million choices
			}
			// An index has as many pairs of both kinds as there are classes.
			want := sum / count / float64(2*classes)
			if !testutil.WithinRelative(c.Exact, want, 1e-9) {
				t.Errorf("%d classes: %+v, enumeration gives %v", classes, c, want)
			}
		}
	}
}

// The terms as the reference prints them, for ten classes and P = 0.1.
func TestCyclesAsPrinted(t *testing.T) {
	want := []struct{ printed, exactErrors float64 }{
		{5.000e-03, 5.000e-03}, {3.333e-04, 4.444e-04}, {1.728e-05, 3.457e-05}, {0.0010125, 0.01640},
	}
	got := InconsistentCycles(10, 0.1)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if !testutil.WithinRelative(got[i].Printed, w.printed, 5e-4) || !testutil.WithinRelative(got[i].Exact, w.exactErrors, 5e-4) {
			t.Errorf("%+v, want %+v", got[i], w)
		}
	}
	// They are terms of E_diff: all of the first sum for three classes.
	three := InconsistentCycles(3, 0.3)
	if r := 0.35 * 0.35; !testutil.WithinRelative((three[0].Printed+three[1].Printed)*(1+r), dibs(t, 3, 2, 0.3).EDiff, 1e-14) {
		t.Errorf("%+v, %+v", three, dibs(t, 3, 2, 0.3))
	}
}
