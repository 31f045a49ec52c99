package metric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tercet/internal/par"
)

// held are rows in memory.
type held struct {
	x []float32
	d int
}

func (h held) Len() int                          { return len(h.x) / h.d }
func (h held) Dim() int                          { return h.d }
func (h held) Read(first int, o []float32) error { copy(o, h.x[first*h.d:]); return nil }

// storedValues are the values of all queries, the gallery in so many parts.
func storedValues(t *testing.T, s *Stored, parts int) []float64 {
	t.Helper()
	var out []float64
	for k := range s.Chunks() {
		sum := make([]int32, s.CountsOf(k))
		for p := range parts {
			from, to := s.Share(p+1, parts)
			counts, err := s.Count(context.Background(), k, Part{From: from, To: to})
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range counts {
				sum[i] += c
			}
		}
		values, err := s.Score(k, sum)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.Values(context.Background(), k, Part{})
		if err != nil || !slices.Equal(whole, values) {
			t.Fatalf("chunk %d in %d parts differs from one, error %v", k, parts, err)
		}
		out = append(out, values...)
	}
	return out
}

// Stored rows get the values of Retrieve to the bit: small and large classes, one set and
// two, ties, a common offset, sizes that need a scale; chunks of queries and parts of the
// gallery of any size.
func TestStoredIsRetrieve(t *testing.T) {
	defer par.SetThreads(par.Threads())
	none := Intervals{Resamples: -1}
	make1 := map[string]func(r *rand.Rand, n, d int) []float32{
		"ties":    func(r *rand.Rand, n, d int) []float32 { return grid(r, n, d, 3) },
		"normal":  normals,
		"offset":  func(r *rand.Rand, n, d int) []float32 { return shifted(normals(r, n, d), 50, 1) },
		"huge":    func(r *rand.Rand, n, d int) []float32 { return shifted(normals(r, n, d), 0, 1e35) },
		"tiny":    func(r *rand.Rand, n, d int) []float32 { return shifted(normals(r, n, d), 0, 1e-36) },
		"all one": func(_ *rand.Rand, n, d int) []float32 { return slices.Repeat([]float32{2}, n*d) },
	}
	for name, rows := range make1 {
		for _, classes := range []int{5, 60} { // above mostCounted items each, and below
			r := rand.New(rand.NewPCG(3, uint64(classes)))
			const n, ng, d = 311, 423, 7
			x, l := rows(r, n, d), randomLabels(r, n, classes)
			g, gl := rows(r, ng, d), randomLabels(r, ng, classes+3)
			if name == "ties" {
				for i := range x {
					x[i]++ // no zero row
				}
				for i := range g {
					g[i]++
				}
			}
			for _, distance := range []string{Euclidean, Cosine} {
				for _, c := range []struct{ self, pairs bool }{{true, false}, {false, false}, {true, true}} {
					self := c.self
					if c.pairs && classes == 5 {
						continue
					}
					o, so := RetrievalOptions{Distance: distance, Intervals: none}, StoredOptions{Distance: distance, Queries: held{x, d}, QueryLabels: l, Memory: 40_000}
					px, pl := x, l
					if self {
						so.Queries, px, pl = nil, g, gl
					} else {
						o.Gallery, o.GalleryLabels = g, gl
					}
					what := fmt.Sprintf("%s, %d classes, %s, self %v, pairs %v", name, classes, distance, self, c.pairs)
					if c.pairs {
						so.Memory = 0
					}
					want, err := Retrieve(context.Background(), px, len(pl), d, pl, o)
					if err != nil {
						t.Fatal(what, err)
					}
					s, err := NewStored(context.Background(), held{g, d}, gl, so)
					if err != nil {
						t.Fatal(what, err)
					}
					if s.Chunks() < 2 != c.pairs || s.small != (classes == 60) || s.pairs != c.pairs {
						t.Fatalf("%s: %d chunks, small %v, pairs %v", what, s.Chunks(), s.small, s.pairs)
					}
					if c.pairs {
						s.block = 4 * d * 100 // several blocks
					}
					parts := 3
					if !self {
						parts = 8
					}
					par.SetThreads(1 + parts%2)
					values := storedValues(t, s, parts)
					if !slices.Equal(values, want.PerQuery) {
						t.Fatalf("%s, %d parts: other values", what, parts)
					}
					got, err := s.Result(context.Background(), values, none)
					if err != nil || !slices.Equal(got.Query, want.Query) || got.Excluded != want.Excluded || got.Gallery != want.Gallery {
						t.Fatalf("%s: result %v, error %v", what, got, err)
					}
					for i, v := range got.Scores {
						if v.Key != want.Scores[i].Key || v.Value.Value != want.Scores[i].Value.Value {
							t.Errorf("%s: %s is %v, want %v", what, v.Key, v.Value.Value, want.Scores[i].Value.Value)
						}
						got.Scores[i].Value.Value = 0 // they belong to the search
					}
				}
			}
		}
	}
}

func shifted(x []float32, by, times float32) []float32 {
	for i := range x {
		x[i] = (x[i] + by) * times
	}
	return x
}

// A block of the gallery ends within a stripe of the sweep, and one within a group of lanes.
func TestStoredBlocks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	const n, d = 2900, 3
	x, l := grid(r, n, d, 9), randomLabels(r, n, 500)
	want, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{Intervals: Intervals{Resamples: -1}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStored(context.Background(), held{x, d}, l, StoredOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if values := storedValues(t, s, 5); !slices.Equal(values, want.PerQuery) {
		t.Error("other values")
	}
}

// Counts that are saved on the way are those that a later call continues from.
func TestStoredResumes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		classes int
		memory  int64
	}{{5, 12_000}, {90, 12_000}, {90, 0}} {
		classes := c.classes
		r := rand.New(rand.NewPCG(9, uint64(classes)))
		const n, d = 400, 3
		x, l := grid(r, n, d, 4), randomLabels(r, n, classes)
		s, err := NewStored(context.Background(), held{x, d}, l, StoredOptions{Memory: c.memory, SaveEvery: 1})
		if err != nil {
			t.Fatal(err)
		}
		if s.pairs != (c.memory == 0) {
			t.Fatalf("%d classes, memory %d: pairs %v", classes, c.memory, s.pairs)
		}
		if s.pairs {
			s.block = 4 * d * 70
		}
		for k := range s.Chunks() {
			want, err := s.Values(context.Background(), k, Part{})
			if err != nil {
				t.Fatal(err)
			}
			var saved []Part
			save := func(done int, counts []int32) error {
				saved = append(saved, Part{Done: done, Counts: slices.Clone(counts)})
				return nil
			}
			if _, err := s.Values(context.Background(), k, Part{Save: save}); err != nil || len(saved) < 3 {
				t.Fatalf("%d classes: saved %d times, error %v", classes, len(saved), err)
			}
			for _, p := range saved {
				last := 0
				p.Save = func(done int, _ []int32) error { last = done; return nil }
				if got, err := s.Values(context.Background(), k, p); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d classes, resumed at %d: other values, error %v", classes, p.Done, err)
				}
				if last <= p.Done && p.Done < saved[len(saved)-1].Done {
					t.Errorf("resumed at %d, saved at %d", p.Done, last)
				}
			}
		}
		if _, err := s.Values(context.Background(), 0, Part{Done: 7, Counts: []int32{1}}); err == nil || !strings.Contains(err.Error(), "1 counts of chunk 0") {
			t.Errorf("other counts: error %v", err)
		}
	}
}

// Errors are those of Retrieve.
func TestStoredErrors(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	l := []int32{0, 0, 1, 1}
	for say, c := range map[string]struct {
		x      []float32
		labels []int32
		o      StoredOptions
	}{
		"row 2 column 1 is NaN":     {[]float32{1, 2, 3, 4, 5, nan, 7, 8}, l, StoredOptions{}},
		"4 embeddings but 3 labels": {make([]float32, 8), l[:3], StoredOptions{}},
		"queries have 1 dimensions": {make([]float32, 8), l, StoredOptions{Queries: held{l4, 1}, QueryLabels: l}},
		"4 queries but 2 labels":    {make([]float32, 8), l, StoredOptions{Queries: held{make([]float32, 8), 2}, QueryLabels: l[:2]}},
		"none of the 4 queries":     {make([]float32, 8), []int32{1, 2, 3, 4}, StoredOptions{}},
		`distance "far"`:            {make([]float32, 8), l, StoredOptions{Distance: "far"}},
		"recall@0: k must be at":    {make([]float32, 8), l, StoredOptions{K: []int{0}}},
	} {
		_, err := NewStored(context.Background(), held{c.x, 2}, c.labels, c.o)
		wantMessage(t, err, say)
	}
	s, err := NewStored(context.Background(), held{[]float32{1, 2, 0, 0, 5, 6, 7, 8}, 2}, l, StoredOptions{Distance: Cosine})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Values(context.Background(), 0, Part{})
	wantMessage(t, err, "is zero")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewStored(ctx, held{make([]float32, 8), 2}, l, StoredOptions{}); err == nil {
		t.Error("a canceled context is no error")
	}
}

var l4 = []float32{1, 2, 3, 4}

func wantMessage(t *testing.T, err error, say string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), say) {
		t.Errorf("error %v, want %q", err, say)
	}
}
