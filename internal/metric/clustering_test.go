package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
)

func digits(s string) []int32 {
	l := make([]int32, len(s))
	for i, c := range s {
		l[i] = int32(c - '0')
	}
	return l
}

func values(t *testing.T, truth, pred []int32) map[string]float64 {
	t.Helper()
	s, err := Clustering(truth, pred)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]float64{}
	for _, v := range s.Scores {
		m[v.Key] = v.Value.Value
	}
	return m
}

// Measured with scikit-learn where it has the score, else by hand.
func TestClusteringGolden(t *testing.T) {
	keys := strings.Fields("homogeneity completeness nmi ami ari ri fmi acc purity bcubed_precision bcubed_recall bcubed_f1")
	for _, c := range []struct {
		truth, pred string
		emi         float64
		want        []float64
	}{
		{"001122", "001222", .503096, []float64{.710310, .771556, .739667, .502361, .444444, .8, .577350, .833333, .833333, .777778, .833333, .804598}},
		{"0012", "0011", .462098, []float64{.666667, 1, .8, .571429, .571429, .833333, .707107, .75, .75, .75, 1, .857143}},
		{"0011", "0101", .231049, []float64{0, 0, 0, -.5, -.5, .333333, 0, .5, .5, .5, .5, .5}},
		{"0001112222", "5577759994", .419914, []float64{.649271, .538113, .588489, .367364, .320988, .755556, .481125, .7, .8, .733333, .583333, .649789}},
	} {
		got := values(t, digits(c.truth), digits(c.pred))
		for i, k := range keys {
			if math.Abs(got[k]-c.want[i]) > 6e-7 {
				t.Errorf("%s|%s %s: %v, want %v", c.truth, c.pred, k, got[k], c.want[i])
			}
		}
		if got["v_measure"]-got["nmi"] > 1e-15 || got["nmi"]-got["v_measure"] > 1e-15 {
			t.Errorf("v_measure %v, nmi %v", got["v_measure"], got["nmi"])
		}
		table, err := newContingency(digits(c.truth), digits(c.pred))
		if err != nil {
			t.Fatal(err)
		}
		if e := expectedMutual(table); math.Abs(e-c.emi) > 6e-7 {
			t.Errorf("%s|%s: expected MI %v, want %v", c.truth, c.pred, e, c.emi)
		}
	}
}

// Computed with scikit-learn 1.2.1, and acc with scipy's linear_sum_assignment,
// on the same formulas.
func TestClusteringSklearn(t *testing.T) {
	truth, pred := make([]int32, 5000), make([]int32, 5000)
	for i := range truth {
		truth[i] = int32(i * 7919 % 1009 % 37)
		pred[i] = truth[i] / 2
		if i%3 == 0 {
			pred[i] = int32(i * 104729 % 997 % 29)
		}
	}
	got := values(t, truth, pred)
	for key, want := range map[string]float64{
		"nmi": 0.461776366566592, "ami": 0.4440214393586613, "ari": 0.33430527295611645, "fmi": 0.36598031588068747,
		"ri": 0.9551852770554111, "acc": 0.357, "homogeneity": 0.4368872253661692, "completeness": 0.48967265451600483,
		"v_measure": 0.461776366566592, "nmi_geometric": 0.46252754228173715, "nmi_max": 0.4368872253661692, "nmi_min": 0.48967265451600483,
	} {
		if math.Abs(got[key]-want) > 1e-11 {
			t.Errorf("%s: %v, want %v", key, got[key], want)
		}
	}
}

// Pair scores and BCubed by loops over pairs of items, MI by probabilities,
// EMI by averaging over all permutations, ACC over all one-to-one maps.
func TestClusteringAgainstLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	for trial := range 60 {
		n := 2 + r.IntN(6)
		truth, pred := randomLabels(r, n, 1+r.IntN(4)), randomLabels(r, n, 1+r.IntN(5))
		got := values(t, truth, pred)
		check := func(key string, want float64) {
			t.Helper()
			if math.Abs(got[key]-want) > 1e-12 {
				t.Fatalf("trial %d %v %v %s: %v, want %v", trial, truth, pred, key, got[key], want)
			}
		}
		var tp, fp, fn, tn, bp, br float64
		for i := range n {
			var both, cluster, class float64
			for j := range n {
				a, b := truth[i] == truth[j], pred[i] == pred[j]
				switch {
				case a && b:
					both++
				case b:
					cluster++
				case a:
					class++
				}
				if i == j {
					continue
				}
				switch {
				case a && b:
					tp++
				case b:
					fp++
				case a:
					fn++
				default:
					tn++
				}
			}
			bp += both / (both + cluster) / float64(n)
			br += both / (both + class) / float64(n)
		}
		check("bcubed_precision", bp)
		check("bcubed_recall", br)
		check("ri", (tp+tn)/(tp+tn+fp+fn))
		if tp+fp > 0 {
			check("pairwise_precision", tp/(tp+fp))
		}
		if tp+fn > 0 {
			check("pairwise_recall", tp/(tp+fn))
		}
		if tp > 0 {
			check("fmi", tp/math.Sqrt((tp+fp)*(tp+fn)))
			check("pairwise_f1", 2*tp/(2*tp+fp+fn))
		}
		if fp+fn == 0 {
			check("ari", 1)
		} else {
			check("ari", 2*(tp*tn-fn*fp)/((tp+fn)*(fn+tn)+(tp+fp)*(fp+tn)))
		}

		hc, hk, mi := plainEntropies(truth, pred)
		for key, mean := range map[string]float64{"nmi": (hc + hk) / 2, "nmi_geometric": math.Sqrt(hc * hk), "nmi_max": max(hc, hk), "nmi_min": min(hc, hk)} {
			if mean > 1e-12 {
				check(key, mi/mean)
			}
		}
		var expected, count float64
		permutations(slices.Clone(pred), 0, func(p []int32) {
			_, _, v := plainEntropies(truth, p)
			expected += v
			count++
		})
		expected /= count
		if below := (hc+hk)/2 - expected; below > 1e-9 {
			check("ami", (mi-expected)/below)
		}

		best := 0
		classes, clusters := classesOf(truth), classesOf(pred)
		place := make([]int32, max(len(classes.size), len(clusters.size)))
		for i := range place {
			place[i] = int32(i)
		}
		permutations(place, 0, func(p []int32) {
			hits := 0
			for i := range n {
				if p[clusters.of[i]] == classes.of[i] {
					hits++
				}
			}
			best = max(best, hits)
		})
		check("acc", float64(best)/float64(n))
	}
}

func plainEntropies(a, b []int32) (ha, hb, mutual float64) {
	n := float64(len(a))
	share := func(same func(i, j int) bool, i int) float64 {
		var c float64
		for j := range a {
			if same(i, j) {
				c++
			}
		}
		return c / n
	}
	for i := range a {
		pa := share(func(i, j int) bool { return a[i] == a[j] }, i)
		pb := share(func(i, j int) bool { return b[i] == b[j] }, i)
		p := share(func(i, j int) bool { return a[i] == a[j] && b[i] == b[j] }, i)
		ha -= math.Log(pa) / n
		hb -= math.Log(pb) / n
		mutual += math.Log(p/(pa*pb)) / n
	}
	return ha, hb, mutual
}

func permutations(p []int32, from int, visit func([]int32)) {
	if from == len(p) {
		visit(p)
		return
	}
	for i := from; i < len(p); i++ {
		p[from], p[i] = p[i], p[from]
		permutations(p, from+1, visit)
		p[from], p[i] = p[i], p[from]
	}
}

func TestClusteringEdges(t *testing.T) {
	one := func(key string, truth, pred []int32, want float64) {
		t.Helper()
		if got := values(t, truth, pred)[key]; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v|%v %s: %v, want %v", truth, pred, key, got, want)
		}
	}
	perfect := strings.Fields("nmi ami ari acc purity v_measure homogeneity completeness inverse_purity bcubed_f1 pairwise_f1 ri nmi_geometric nmi_max nmi_min")
	for _, c := range [][2]string{{"0", "7"}, {"0000", "3333"}, {"0123", "3120"}, {"0011", "5522"}} {
		for _, k := range perfect {
			one(k, digits(c[0]), digits(c[1]), 1)
		}
	}
	negative := []int32{-5, -5, math.MinInt32, math.MaxInt32, math.MaxInt32}
	for _, k := range perfect {
		one(k, negative, []int32{9, 9, -1, 0, 0}, 1)
	}
	all, singles := digits("0000"), digits("0123")
	half := digits("0011")
	for _, k := range []string{"nmi", "ami", "ari", "homogeneity", "v_measure"} {
		one(k, half, all, 0) // everything in one cluster
	}
	one("completeness", half, all, 1)
	one("acc", half, all, .5)
	one("homogeneity", half, singles, 1)
	one("purity", half, singles, 1)
	one("ami", half, singles, 0) // every clustering into single items says as much
	one("ari", half, singles, 0)
	one("fmi", half, singles, 0)
	one("pairwise_precision", half, singles, 1) // no pair is claimed
	one("pairwise_recall", half, singles, 0)
	for _, c := range [][2][]int32{{nil, nil}, {all, half[:3]}} {
		if s, err := Clustering(c[0], c[1]); err == nil {
			t.Errorf("%v", s)
		}
	}
}

// Pair counts whose products exceed 64 bits: two equal classes, and two clusters
// that each hold half of both, where ARI is -1/(n-2).
func TestClusteringLargeCounts(t *testing.T) {
	n := int64(200000)
	p := pairs{all: n * (n - 1) / 2}
	p.class = 2 * (n / 2) * (n/2 - 1) / 2
	p.cluster = p.class
	p.both = 4 * (n / 4) * (n/4 - 1) / 2
	if got, want := p.adjustedRand(), -1/float64(n-2); !(math.Abs(got-want) < 1e-20) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestClusteringOrder(t *testing.T) {
	s, err := Clustering(digits("001122"), digits("001222"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, k := range strings.Fields("nmi ami ari acc purity v_measure homogeneity completeness inverse_purity bcubed_precision bcubed_recall bcubed_f1 pairwise_precision pairwise_recall pairwise_f1 fmi ri nmi_geometric nmi_max nmi_min") {
		at := strings.Index(string(text), `"`+k+`":{"value":`)
		if at <= last {
			t.Fatalf("%s is not after the key before it in %s", k, text)
		}
		last = at
	}
	if s.Items != 6 || s.Classes != 3 || s.Clusters != 3 {
		t.Errorf("%+v", s)
	}
}

// Many classes at random: the matching is optimal by linear programming duality,
// and the threads do not matter.
func TestMatchingDuality(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, c := range []struct{ n, classes, clusters int }{{3000, 40, 60}, {3000, 700, 500}, {500, 1, 30}, {2000, 30, 30}, {4000, 2000, 2000}} {
		table, err := newContingency(randomLabels(r, c.n, c.classes), randomLabels(r, c.n, c.clusters))
		if err != nil {
			t.Fatal(err)
		}
		m := newMatching(table)
		got := m.solve()
		var bound int64
		for i, p := range m.profit {
			bound += p
			for _, e := range m.row(int32(i)) {
				if p < 0 || p+m.price[e.cluster] < e.count {
					t.Fatalf("%+v: dual infeasible at class %d", c, i)
				}
			}
		}
		used := map[int32]bool{}
		for i, k := range m.mate {
			if k >= 0 && (used[k] || m.owner[k] != int32(i)) {
				t.Fatalf("%+v: cluster %d twice", c, k)
			}
			used[k] = true
		}
		for _, p := range m.price {
			bound += p
			if p < 0 {
				t.Fatalf("%+v: negative price", c)
			}
		}
		if got != bound {
			t.Errorf("%+v: matching %d, dual bound %d", c, got, bound)
		}
	}
}

func TestClusteringThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	r := rand.New(rand.NewPCG(6, 6))
	truth, pred := randomLabels(r, 5000, 300), randomLabels(r, 5000, 200)
	var want string
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		s, err := Clustering(truth, pred)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" && want != string(text) {
			t.Errorf("%d threads differ", threads)
		}
		want = string(text)
	}
}
