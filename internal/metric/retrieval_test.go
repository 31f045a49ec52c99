package metric

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
	"tercet/internal/record"
)

// plain ranks by float64 distances and stable sorting, and scores each query
// from the sorted list by the definitions.
func plain(x []float32, d int, labels []int32, g []float32, galleryLabels []int32, cosine bool, ks []int) (query []int32, values [][]float64, order [][]int32) {
	self := g == nil
	if self {
		g, galleryLabels = x, labels
	}
	for q := range labels {
		dist := make([]float64, len(galleryLabels))
		for j := range dist {
			var dot, nq, ng, sq float64
			for c := range d {
				a, b := float64(x[q*d+c]), float64(g[j*d+c])
				dot, nq, ng, sq = dot+a*b, nq+a*a, ng+b*b, sq+(a-b)*(a-b)
			}
			dist[j] = sq
			if cosine {
				dist[j] = -dot / math.Sqrt(nq*ng)
			}
		}
		all := make([]int32, len(dist))
		for j := range all {
			all[j] = int32(j)
		}
		slices.SortStableFunc(all, func(a, b int32) int {
			switch {
			case dist[a] < dist[b]:
				return -1
			case dist[a] > dist[b]:
				return 1
			}
			return 0
		})
		byIndex := all
		if self {
			byIndex = slices.DeleteFunc(slices.Clone(all), func(j int32) bool { return int(j) == q })
		}
		rel := func(list []int32) []bool {
			r := make([]bool, len(list))
			for i, j := range list {
				r[i] = galleryLabels[j] == labels[q]
			}
			return r
		}
		r := rel(byIndex)
		if !slices.Contains(r, true) {
			continue
		}
		v := append(plainScores(r, ks), plainTriplets(dist, byIndex, r))
		if self {
			p := plainScores(rel(all[1:]), ks)
			v = append(v, p[:len(ks)+1]...)
			v = append(v, p[len(p)-1])
		}
		query, values, order = append(query, int32(q)), append(values, v), append(order, byIndex)
	}
	return query, values, order
}

// plainTriplets compares each relevant item with each other one.
func plainTriplets(dist []float64, items []int32, relevant []bool) float64 {
	wrong, all := 0.0, 0.0
	for i, p := range items {
		for j, n := range items {
			if !relevant[i] || relevant[j] {
				continue
			}
			switch all++; {
			case dist[p] > dist[n]:
				wrong++
			case dist[p] == dist[n]:
				wrong += 0.5
			}
		}
	}
	return wrong / max(all, 1)
}

func plainScores(rel []bool, ks []int) []float64 {
	var v []float64
	for _, k := range ks {
		hit := 0.0
		for i := 0; i < k && i < len(rel); i++ {
			if rel[i] {
				hit = 1
			}
		}
		v = append(v, hit)
	}
	r := 0
	for _, b := range rel {
		if b {
			r++
		}
	}
	precision := func(upTo int) float64 {
		hits := 0
		for _, b := range rel[:upTo] {
			if b {
				hits++
			}
		}
		return float64(hits) / float64(upTo)
	}
	var ap, mapr, rprec, mrr, ap10 float64
	for i, b := range rel {
		if !b {
			continue
		}
		if mrr == 0 {
			mrr = 1 / float64(i+1)
		}
		ap += precision(i + 1)
		if i < r {
			mapr += precision(i + 1)
			rprec++
		}
		if i < 10 {
			ap10 += precision(i + 1)
		}
	}
	n := float64(r)
	return append(v, ap/n, mapr/n, rprec/n, mrr, ap10/10)
}

// grid draws integer coordinates: all keys are exact in float32, and there are
// many ties.
func grid(r *rand.Rand, n, d, size int) []float32 {
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.IntN(size))
	}
	return x
}

func normals(r *rand.Rand, n, d int) []float32 {
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func randomLabels(r *rand.Rand, n, k int) []int32 {
	l := make([]int32, n)
	for i := range l {
		l[i] = int32(r.IntN(k))*7 - 20
	}
	return l
}

func compare(t *testing.T, r *Retrieval, query []int32, values [][]float64, order [][]int32) {
	t.Helper()
	if !slices.Equal(r.Query, query) {
		t.Fatalf("queries %v, want %v", r.Query, query)
	}
	m := len(r.Scores)
	mean := make([]float64, m)
	for q, want := range values {
		if len(want) != m {
			t.Fatalf("%d scores, want %d", m, len(want))
		}
		for i, v := range want {
			if got := r.PerQuery[q*m+i]; math.Abs(got-v) > 1e-12 {
				t.Fatalf("query %d %s: %v, want %v", query[q], r.Scores[i].Key, got, v)
			}
			mean[i] += v / float64(len(values))
		}
		k := r.NeighborCount
		if got := r.Neighbors[q*k : (q+1)*k]; !slices.Equal(got, order[q][:k]) {
			t.Fatalf("query %d: neighbors %v, want %v", query[q], got, order[q][:k])
		}
	}
	for i, v := range mean {
		if got := r.Scores[i].Value.Value; math.Abs(got-v) > 1e-12 {
			t.Errorf("%s: %v, want %v", r.Scores[i].Key, got, v)
		}
	}
}

func TestRetrieveAgainstSorting(t *testing.T) {
	ks := []int{1, 2, 5, 30}
	none := Intervals{Resamples: -1}
	for _, c := range []struct {
		name            string
		n, d, size, lab int
	}{
		{"ties", 300, 3, 4, 12},
		{"small classes", 400, 4, 50, 150},
		{"large classes", 500, 4, 9, 2},
		{"one class", 60, 2, 20, 1},
		{"duplicates everywhere", 100, 1, 2, 5},
		{"one dimension", 200, 1, 400, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(c.n)))
			x, l := grid(r, c.n, c.d, c.size), randomLabels(r, c.n, c.lab)
			got, err := Retrieve(context.Background(), x, c.n, c.d, l, RetrievalOptions{K: ks, Neighbors: 7, Intervals: none})
			if err != nil {
				t.Fatal(err)
			}
			query, values, order := plain(x, c.d, l, nil, nil, false, ks)
			compare(t, got, query, values, order)
			if got.Excluded != c.n-len(query) || got.Gallery != c.n {
				t.Errorf("excluded %d of a gallery of %d", got.Excluded, got.Gallery)
			}
			gl := randomLabels(r, 230, c.lab+3)
			g := grid(r, 230, c.d, c.size)
			got, err = Retrieve(context.Background(), x, c.n, c.d, l, RetrievalOptions{K: ks, Neighbors: 4, Gallery: g, GalleryLabels: gl, Intervals: none})
			if err != nil {
				t.Fatal(err)
			}
			query, values, order = plain(x, c.d, l, g, gl, false, ks)
			compare(t, got, query, values, order)
		})
	}
}

// Continuous data: float64 and float32 rank alike where no gap is below the
// documented error, which holds for these seeds.
func TestRetrieveContinuous(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	n, d := 150, 8
	x, l := normals(r, n, d), randomLabels(r, n, 11)
	for _, distance := range []string{Euclidean, Cosine} {
		query, values, order := plain(x, d, l, nil, nil, distance == Cosine, []int{1, 4})
		for _, scale := range []float32{1, 0x1p-70, 0x1p60} { // would underflow or overflow when squared
			y := slices.Clone(x)
			for i := range y {
				y[i] *= scale
			}
			got, err := Retrieve(context.Background(), y, n, d, l, RetrievalOptions{K: []int{1, 4}, Distance: distance, Neighbors: 10, Intervals: Intervals{Resamples: -1}})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, query, values, order)
		}
	}
}

// One row that diverged leaves the ranks of the others as they are.
func TestRetrieveOneLargeRow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	n, d := 150, 8
	x, l := normals(r, n, d), randomLabels(r, n, 30)
	l[17] = math.MaxInt32 // no query
	for _, size := range []float32{1e13, 1e20, 1e25, 1e36} {
		for c := range d {
			x[17*d+c] = size * float32(c-3)
		}
		query, values, order := plain(x, d, l, nil, nil, false, []int{1, 4})
		for _, near := range []int{0, 10} { // by counting, and by whole rows of keys
			got, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: []int{1, 4}, Neighbors: near, Intervals: Intervals{Resamples: -1}})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, query, values, order)
		}
	}
}

// Directions do not depend on lengths, however different those of the rows are.
func TestRetrieveCosineLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	n, d := 150, 8
	x, l := normals(r, n, d), randomLabels(r, n, 30)
	g, gl := normals(r, n, d), randomLabels(r, n, 30)
	none := Intervals{Resamples: -1}
	query, values, order := plain(x, d, l, nil, nil, true, []int{1, 4})
	others, otherValues, otherOrder := plain(x, d, l, g, gl, true, []int{1, 4})
	for i := range n {
		for c := range d {
			x[i*d+c] *= []float32{1, 0x1p-90, 0x1p-60, 0x1p100}[i%4] // products would vanish or overflow
			g[i*d+c] *= []float32{0x1p-95, 1, 0x1p90}[i%3]
		}
	}
	for _, near := range []int{0, 10} { // by counting, and by whole rows of keys
		got, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: []int{1, 4}, Distance: Cosine, Neighbors: near, Intervals: none})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, query, values, order)
		got, err = Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: []int{1, 4}, Distance: Cosine, Neighbors: near, Gallery: g, GalleryLabels: gl, Intervals: none})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, others, otherValues, otherOrder)
	}
}

// Relevance 1, 0, 1, 1 of the first four with R = 4 (Wang).
func TestRetrieveWang(t *testing.T) {
	query, ql := []float32{0}, []int32{3}
	g := []float32{1, 2, 3, 4, 5, 6}
	gl := []int32{3, 9, 3, 3, 9, 3}
	r, err := Retrieve(context.Background(), query, 1, 1, ql, RetrievalOptions{K: []int{1}, Gallery: g, GalleryLabels: gl})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{"recall@1": 1, "r_precision": .75, "map@r": (1 + 2./3 + 3./4) / 4, "mrr": 1,
		"triplet_error": (1 + 1 + 2) / 8., "map": (1 + 2./3 + 3./4 + 4./6) / 4, "map@10": (1 + 2./3 + 3./4 + 4./6) / 10} {
		if v, ok := r.Scores.Get(key); !ok || math.Abs(v.Value-want) > 1e-15 {
			t.Errorf("%s = %v, want %v", key, v.Value, want)
		}
		if v, _ := r.Scores.Get(key); v.CI95 != nil {
			t.Errorf("%s has an interval from one query", key)
		}
	}
	if v, _ := r.Scores.Get("map@r"); math.Abs(v.Value-.604167) > 5e-7 {
		t.Errorf("MAP@R %v", v.Value)
	}
}

// A collapsed network: every item is at the same place, so that order is by
// index and the published masking drops item 0 in place of the query.
func TestRetrieveAllIdentical(t *testing.T) {
	n, d := 40, 17
	x := make([]float32, n*d)
	l := make([]int32, n)
	for i := range x {
		x[i] = []float32{.1, -.7, .3333}[i%d%3]
	}
	for i := range l {
		l[i] = int32(i % 4)
	}
	for _, distance := range []string{Euclidean, Cosine} {
		r, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: []int{1}, Distance: distance, Neighbors: 3})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Neighbors[:6]; !slices.Equal(got, []int32{1, 2, 3, 0, 2, 3}) {
			t.Errorf("%s: neighbors %v", distance, got)
		}
		if v, _ := r.Scores.Get("recall@1"); v.Value != 9./40 { // queries 4, 8, ... find item 0
			t.Errorf("%s: recall@1 %v", distance, v.Value)
		}
		if v, _ := r.Scores.Get("recall@1(position-masked)"); v.Value != 10./40 { // class 1 finds item 1
			t.Errorf("%s: position-masked recall@1 %v", distance, v.Value)
		}
		counted, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{K: []int{1}, Distance: distance})
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []*Retrieval{r, counted} {
			if v, _ := by.Scores.Get("triplet_error"); v.Value != 0.5 || v.CI95 == nil || v.Definition != "triplet_error(ties-half)" {
				t.Errorf("%s: triplet error %v of items all in one place", distance, v)
			}
		}
	}
}

func TestRetrieveBadInput(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	ok := []float32{1, 2, 3, 4}
	same := []int32{5, 5}
	for name, c := range map[string]struct {
		x      []float32
		n, d   int
		labels []int32
		o      RetrievalOptions
		want   string
	}{
		"no rows":        {nil, 0, 2, nil, RetrievalOptions{}, "no embeddings"},
		"no columns":     {nil, 2, 0, same, RetrievalOptions{}, "0 dimensions"},
		"short":          {ok[:3], 2, 2, same, RetrievalOptions{}, "need 4 numbers, got 3"},
		"labels":         {ok, 2, 2, same[:1], RetrievalOptions{}, "2 embeddings but 1 labels"},
		"nan":            {[]float32{1, 2, 3, nan}, 2, 2, same, RetrievalOptions{}, "row 1 column 1 is NaN"},
		"inf":            {[]float32{inf, 2, 3, 4}, 2, 2, same, RetrievalOptions{}, "row 0 column 0 is +Inf"},
		"gallery nan":    {ok, 2, 2, same, RetrievalOptions{Gallery: []float32{nan, 0}, GalleryLabels: []int32{5}}, "gallery embeddings row 0 column 0"},
		"gallery labels": {ok, 2, 2, same, RetrievalOptions{Gallery: ok}, "no gallery"},
		"one item":       {ok[:2], 1, 2, same[:1], RetrievalOptions{}, "none of the 1 queries"},
		"singletons":     {ok, 2, 2, []int32{-1, 8}, RetrievalOptions{}, "none of the 2 queries"},
		"k":              {ok, 2, 2, same, RetrievalOptions{K: []int{0}}, "at least 1"},
		"k twice":        {ok, 2, 2, same, RetrievalOptions{K: []int{3, 3}}, "twice"},
		"distance":       {ok, 2, 2, same, RetrievalOptions{Distance: "l7"}, "choose euclidean or cosine"},
		"neighbours":     {ok, 2, 2, same, RetrievalOptions{Neighbors: -1}, "-1 neighbors"},
		"zero cosine":    {[]float32{1, 2, 0, 0}, 2, 2, same, RetrievalOptions{Distance: Cosine}, "row 1 is zero"},
		"tiny cosine":    {[]float32{1, 2, 1e-40, 0}, 2, 2, same, RetrievalOptions{Distance: Cosine}, "row 1 is zero, or too small"},
		"zero query":     {[]float32{1, 2, 0, 0}, 2, 2, same, RetrievalOptions{Distance: Cosine, Gallery: ok, GalleryLabels: same}, "query row 1 is zero"},
	} {
		_, err := Retrieve(context.Background(), c.x, c.n, c.d, c.labels, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Retrieve(stopped, ok, 2, 2, same, RetrievalOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestRankAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	keys := normals(r, 1, 4000)
	few, many := []int32{5, 7, 3000}, make([]int32, 500)
	for i := range many {
		many[i] = int32(7 * i)
	}
	var w rowScratch
	out, near := make([]float64, len(retrievalScores([]int{1, 2}, true))), make([]int32, 10)
	if n := testing.AllocsPerRun(5, func() {
		for _, relevant := range [][]int32{few, many} {
			w.rank(keys, relevant)
			w.score([]int{1, 2}, 7, len(keys), out)
			w.nearest(keys, 7, near)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRetrieveThreads(t *testing.T) {
	defer par.SetThreads(par.Threads())
	r := rand.New(rand.NewPCG(3, 3))
	n, d := 700, 24 // more than one block
	x, l := normals(r, n, d), randomLabels(r, n, 9)
	var want []byte
	for _, threads := range []int{1, 2, 3} {
		par.SetThreads(threads)
		got, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{Neighbors: 5, Intervals: Intervals{Resamples: 50}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(struct {
			S any
			P []float64
			N []int32
		}{got, got.PerQuery, got.Neighbors})
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !bytes.Equal(text, want) {
			t.Errorf("%d threads differ", threads)
		}
		want = text
	}
}

func TestRetrievalJSON(t *testing.T) {
	r, err := Retrieve(context.Background(), []float32{0, 1, 5, 6}, 4, 1, []int32{0, 0, 1, 1}, RetrievalOptions{K: []int{1}, Intervals: Intervals{Resamples: 10}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const begin = `{"recall@1":{"value":1,"ci95":[1,1],"definition":"recall@1(any)"},"map":{"value":1,"ci95":[1,1],"definition":"map(full)"},"map@r":`
	if !bytes.HasPrefix(text, []byte(begin)) {
		t.Errorf("%s", text)
	}
	var keys []string
	for _, s := range r.Scores {
		keys = append(keys, s.Key)
	}
	if got := strings.Join(keys, " "); got != "recall@1 map map@r r_precision mrr map@10 triplet_error recall@1(position-masked) map(position-masked) map@10(position-masked)" {
		t.Error(got)
	}
	if _, err := (record.Scores{{Key: "x", Value: record.Value{Value: math.NaN()}}}).MarshalJSON(); err == nil {
		t.Error("NaN was written")
	}
}
