package search_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/embed/store"
	"tercet/internal/record"
	"tercet/internal/search"
)

// folder has n random rows of small whole numbers, so that there are ties.
func folder(n int, seed uint64) *store.Folder {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &store.Folder{Dir: fmt.Sprint("f", seed), Doc: &record.Embed{Network: record.EmbedNetwork{Dim: 3, SHA256: "a"}}, Embeddings: data.Embeddings{N: n, D: 3}}
	for i := range n {
		f.Items = append(f.Items, store.Item{Path: fmt.Sprintf("%d.png", i%(n/2+1)), Label: fmt.Sprint("c", i%4)})
		if i%3 > 0 {
			f.Items[i].Sequence = fmt.Sprint("s", r.IntN(5))
		}
		if i > n/2 {
			f.Items[i].Box.Max.X, f.Items[i].Box.Max.Y = 2, 2
		}
		for range 3 {
			f.X = append(f.X, float32(r.IntN(5)))
		}
	}
	return f
}

func quiet(string, int, int) {}

// Against a stable sort of all distances, as numpy's argsort(kind="stable").
func TestSearchIsAStableSort(t *testing.T) {
	t.Parallel()
	q, g := folder(30, 1), folder(50, 2)
	skip := map[string]func(a, b store.Item) bool{
		"":     func(a, b store.Item) bool { return false },
		"self": func(a, b store.Item) bool { return a.Path == b.Path && a.Box == b.Box },
		"path": func(a, b store.Item) bool { return a.Path == b.Path },
		"sequence": func(a, b store.Item) bool {
			return a.Sequence != "" && a.Sequence == b.Sequence || a.Sequence == "" && b.Sequence == "" && a.Path == b.Path && a.Box == b.Box
		},
	}
	for kind, out := range skip {
		for _, c := range []struct {
			k     int
			limit float64
		}{{7, math.Inf(1)}, {60, math.Inf(1)}, {20, 2}} {
			o := search.Options{K: c.k, Exclude: kind}
			if !math.IsInf(c.limit, 1) {
				o.MaxDistance = &c.limit
			}
			r, err := search.Search(context.Background(), q, g, o, quiet)
			if err != nil {
				t.Fatal(err)
			}
			for i := range q.N {
				type item struct {
					d float64
					j int32
				}
				var want []item
				for j := range g.N {
					s := 0.0
					for k := range 3 {
						s += math.Pow(float64(q.X[3*i+k]-g.X[3*j+k]), 2)
					}
					if d := math.Sqrt(s); d <= c.limit && !out(q.Items[i], g.Items[j]) {
						want = append(want, item{d, int32(j)})
					}
				}
				slices.SortStableFunc(want, func(a, b item) int { return cmp.Compare(a.d, b.d) })
				for rank := range c.k {
					w := item{math.Inf(1), -1}
					if rank < len(want) {
						w = want[rank]
					}
					if at := i*c.k + rank; r.Index[at] != w.j || r.Distance[at] != w.d && math.Abs(r.Distance[at]-w.d) > 1e-12 {
						t.Fatalf("exclude %q, k %d: query %d rank %d: %d at %v, want %+v", kind, c.k, i, rank, r.Index[at], r.Distance[at], w)
					}
				}
			}
		}
	}
}

func TestSearchRefusesOtherNetworks(t *testing.T) {
	t.Parallel()
	q, g := folder(5, 1), folder(5, 2)
	g.Doc.Network.Transform = "another"
	if _, err := search.Search(context.Background(), q, g, search.Options{K: 1}, quiet); !errors.Is(err, fault.ErrUnfit) || !strings.Contains(err.Error(), "transform:  and another") {
		t.Errorf("%v", err)
	}
	if _, err := search.Search(context.Background(), q, g, search.Options{K: 1, AnyNetwork: true}, quiet); err != nil {
		t.Errorf("%v", err)
	}
}

// A query is the image of the gallery that lies in the same place, whatever the roots that
// their paths are below, and no other of that name.
func TestExcludedByPlace(t *testing.T) {
	t.Parallel()
	one := func(root string, paths ...string) *store.Folder {
		f := &store.Folder{Doc: &record.Embed{Root: root, Network: record.EmbedNetwork{Dim: 1, SHA256: "a"}}, Embeddings: data.Embeddings{N: len(paths), D: 1}}
		for i, path := range paths {
			f.Items, f.X = append(f.Items, store.Item{Path: path}), append(f.X, float32(i))
		}
		return f
	}
	full, err := filepath.Abs("photos/cat/1.png")
	if err != nil {
		t.Fatal(err)
	}
	g := one("photos", "cat/1.png", "cat/2.png")
	for _, kind := range []string{"self", "path", "sequence"} {
		for _, c := range []struct {
			q    *store.Folder
			want int32
		}{{one("", "photos/cat/1.png"), 1}, {one("", full), 1}, {one("photos/cat", "1.png"), 1}, {g, 1}, {one("others", "cat/1.png"), 0}} {
			r, err := search.Search(context.Background(), c.q, g, search.Options{K: 1, Exclude: kind}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			if r.Index[0] != c.want {
				t.Errorf("exclude %s: %s below %q found item %d, want %d", kind, c.q.Items[0].Path, c.q.Doc.Root, r.Index[0], c.want)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	q, g := folder(4, 1), folder(6, 2)
	limit := 2.0
	r, err := search.Search(context.Background(), q, g, search.Options{K: 8, MaxDistance: &limit}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Document(true)
	if d.Count != len(d.Found) || d.Count == 0 || r.Document(false).Found != nil {
		t.Errorf("%+v", d)
	}
	var csv, lines bytes.Buffer
	if err := errors.Join(r.WriteCSV(&csv), r.WriteLines(&lines)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(csv.String(), "\n"); n != d.Count+1 || strings.Count(lines.String(), "\n") != d.Count {
		t.Errorf("%d lines, want %d", n, d.Count+1)
	}
	f := d.Found[0]
	if want := fmt.Sprintf("%d,%s,1,%d,%s,%v,%s\n", f.Query, f.QueryPath, f.Item, f.Path, f.Distance, f.Label); !strings.Contains(csv.String(), want) {
		t.Errorf("no line %s in %s", want, csv.String())
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"D.npy": "'<f4', 'fortran_order': False, 'shape': (4, 8)", "I.npy": "'<i8', 'fortran_order': False, 'shape': (4, 8)"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Write("x.txt"); err == nil {
		t.Error("x.txt is written")
	}
}
