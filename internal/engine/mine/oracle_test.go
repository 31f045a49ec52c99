package mine

import (
	"math"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// scene is a batch in plain float64 with all distances.
type scene struct {
	z      *array.Array
	labels []int32
	d      [][]float64
}

// newScene draws rows around class centers; spread sets how much classes overlap.
func newScene(seed uint64, labels []int32, dim int, spread float64, unit bool) scene {
	r := rng.New(seed, "scene")
	center := map[int32][]float64{}
	for _, l := range labels {
		if center[l] == nil {
			c := make([]float64, dim)
			for k := range c {
				c[k] = r.NormFloat64()
			}
			center[l] = c
		}
	}
	z := array.New(len(labels), dim)
	for i, l := range labels {
		x := make([]float64, dim)
		var s float64
		for k := range x {
			x[k] = center[l][k] + spread*r.NormFloat64()
			s += x[k] * x[k]
		}
		for k := range x {
			if unit {
				x[k] /= math.Sqrt(s)
			}
			z.Row(i)[k] = float32(x[k])
		}
	}
	return sceneOf(z, labels, false)
}

func sceneOf(z *array.Array, labels []int32, normalize bool) scene {
	n := len(labels)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, z.Cols())
		var s float64
		for k, v := range z.Row(i) {
			rows[i][k] = float64(v)
			s += float64(v) * float64(v)
		}
		for k := range rows[i] {
			if normalize && s > 0 {
				rows[i][k] /= math.Sqrt(s)
			}
		}
	}
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range d[i] {
			var s float64
			for k := range rows[i] {
				s += (rows[i][k] - rows[j][k]) * (rows[i][k] - rows[j][k])
			}
			d[i][j] = math.Sqrt(s)
		}
	}
	return scene{z, labels, d}
}

// uniform gives every row that satisfies f the same probability; nil if none does.
func (s scene) uniform(f func(j int) bool) map[int]float64 {
	out := map[int]float64{}
	for j := range s.labels {
		if f(j) {
			out[j] = 1
		}
	}
	for j := range out {
		out[j] = 1 / float64(len(out))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// lawful are the miners that law knows.
var lawful = []string{"random", "semihard", "softhard", "softhard-strict", "distance-weighted", "hardest"}

// law is the probability of every (positive, negative) of anchor a, written from
// section 3 of the specification; nil where a is no anchor.
func (s scene) law(name string, o Options, a int) map[[2]int]float64 {
	same := func(j int) bool { return s.labels[j] == s.labels[a] }
	other := func(j int) bool { return s.labels[j] != s.labels[a] }
	mate := func(j int) bool { return j != a && same(j) }
	all := func(int) bool { return true }
	first := func(ms ...map[int]float64) map[int]float64 {
		for _, m := range ms {
			if m != nil {
				return m
			}
		}
		return nil
	}
	positives := map[int]float64{a + 1: 1}
	if o.Layout == General {
		if positives = s.uniform(mate); positives == nil {
			return nil
		}
	} else if a%2 == 1 {
		return nil
	}
	if name == "softhard" || name == "softhard-strict" {
		farthest, nearest := 0.0, math.Inf(1)
		for j := range s.labels {
			if same(j) {
				farthest = math.Max(farthest, s.d[a][j])
			} else {
				nearest = math.Min(nearest, s.d[a][j])
			}
		}
		who := same
		if name == "softhard-strict" {
			who = mate
		}
		if s.uniform(other) != nil {
			positives = first(s.uniform(func(j int) bool { return who(j) && s.d[a][j] > nearest }), s.uniform(who))
		}
		negatives := first(s.uniform(func(j int) bool { return other(j) && s.d[a][j] < farthest }), s.uniform(other), s.uniform(all))
		return product(positives, func(int) map[int]float64 { return negatives })
	}
	return product(positives, func(p int) map[int]float64 {
		switch name {
		case "random":
			return first(s.uniform(other), s.uniform(all))
		case "semihard":
			return first(s.uniform(func(j int) bool {
				ap, an := o.compared(s.d[a][p]), o.compared(s.d[a][j])
				return other(j) && ap < an && an < ap+o.Margin
			}), s.uniform(other), s.uniform(all))
		case "hardest":
			best, found := math.Inf(1), -1
			for j := range s.labels {
				if other(j) && s.d[a][j] > 0 && s.d[a][j] < best {
					best, found = s.d[a][j], j
				}
			}
			if found >= 0 {
				return map[int]float64{found: 1}
			}
			for j := range s.labels {
				if other(j) {
					return map[int]float64{j: 1}
				}
			}
			return s.uniform(all)
		case "distance-weighted":
			dim := float64(s.z.Cols())
			out, sum := map[int]float64{}, 0.0
			for j := range s.labels {
				if !other(j) {
					continue
				}
				d := math.Max(s.d[a][j], o.Cutoff)
				// 1/q(d), q(d) ~ d^(D-2) (1 - d^2/4)^((D-3)/2)
				w := 1 / (math.Pow(d, dim-2) * math.Pow(1-d*d/4, (dim-3)/2))
				if math.IsNaN(w) || math.IsInf(w, 0) {
					continue
				}
				out[j] = w
				sum += w
			}
			if sum == 0 {
				return s.uniform(all)
			}
			for j := range out {
				out[j] /= sum
			}
			return out
		}
		panic(name)
	})
}

// compared is what the margin is added to.
func (o Options) compared(d float64) float64 {
	if o.Squared {
		return math.Pow(d, 2)
	}
	return d
}

func product(positives map[int]float64, negatives func(p int) map[int]float64) map[[2]int]float64 {
	out := map[[2]int]float64{}
	for p, x := range positives {
		for n, y := range negatives(p) {
			out[[2]int{p, n}] = x * y
		}
	}
	return out
}

// checkLaw mines the scene many times and compares frequencies with the law.
func checkLaw(t *testing.T, name string, o Options, s scene, draws int) {
	t.Helper()
	m, err := New(name, o)
	if err != nil {
		t.Fatal(err)
	}
	r := rng.New(11, "mine")
	seen := make([]map[[2]int]int, len(s.labels))
	for i := range seen {
		seen[i] = map[[2]int]int{}
	}
	var out loss.Tuples
	for range draws {
		stats, err := m.Mine(s.z, s.labels, r, &out)
		if err != nil {
			t.Fatal(err)
		}
		var want Stats
		last := -1
		for _, x := range out.Triplets {
			if int(x.A) <= last {
				t.Fatalf("%s: anchors out of order: %v", name, out.Triplets)
			}
			last = int(x.A)
			seen[x.A][[2]int{int(x.P), int(x.N)}]++
			switch ap, an := o.compared(s.d[x.A][x.P]), o.compared(s.d[x.A][x.N]); {
			case an <= ap:
				want.Hard++
			case an < ap+o.Margin:
				want.Semihard++
			default:
				want.Easy++
			}
		}
		want.Fallback = stats.Fallback
		if stats != want {
			t.Fatalf("%s: stats %+v, want %+v", name, stats, want)
		}
	}
	for a := range s.labels {
		law := s.law(name, o, a)
		total := 0
		for k, n := range seen[a] {
			if law[k] == 0 {
				t.Fatalf("%s %s: anchor %d got positive %d, negative %d, which the definition forbids", name, o.Layout, a, k[0], k[1])
			}
			total += n
		}
		want := draws
		if law == nil {
			want = 0
		}
		if total != want {
			t.Fatalf("%s: anchor %d mined %d times, want %d", name, a, total, want)
		}
		// Chi-square over cells with enough expected draws; the rest is one cell.
		chi, cells, restE, restO := 0.0, 0, 0.0, 0.0
		for k, p := range law {
			e, got := p*float64(draws), float64(seen[a][k])
			if e < 8 {
				restE, restO = restE+e, restO+got
				continue
			}
			chi += (got - e) * (got - e) / e
			cells++
		}
		if restE >= 8 {
			chi += (restO - restE) * (restO - restE) / restE
			cells++
		}
		df := float64(max(cells-1, 0))
		if limit := df + 4.5*math.Sqrt(2*df) + 8; chi > limit {
			t.Errorf("%s %s: anchor %d: chi-square %.1f over %v degrees of freedom", name, o.Layout, a, chi, df)
		}
	}
}
