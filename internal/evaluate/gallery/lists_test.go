package gallery

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tercet/internal/data/npy"
	"tercet/internal/evaluate"
	"tercet/internal/record"
	"tercet/internal/vectors"
)

// loops finds the k nearest rows of x for each of q by sorting all squared distances, in
// float64, equal ones in the order of the rows; own leaves the query itself out.
func loops(q, x []float32, d, k int, own bool) (index [][]int32, square [][]float64) {
	for i := range len(q) / d {
		var order []int32
		all := make([]float64, len(x)/d)
		for j := range all {
			if own && i == j {
				continue
			}
			order = append(order, int32(j))
			for c := range d {
				v := float64(q[i*d+c]) - float64(x[j*d+c])
				all[j] += float64(v * v)
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			switch {
			case all[a] < all[b]:
				return -1
			case all[a] > all[b]:
				return 1
			}
			return 0
		})
		index, square = append(index, order[:k]), append(square, all)
	}
	return index, square
}

func readAll(t *testing.T, path string) []float32 {
	t.Helper()
	f, err := vectors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := f.All()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// writeLists writes lists as ibin.
func writeLists(t *testing.T, path string, lists [][]int32) {
	t.Helper()
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, []uint32{uint32(len(lists)), uint32(len(lists[0]))})
	for _, l := range lists {
		_ = binary.Write(&b, binary.LittleEndian, l)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func value(t *testing.T, s record.Scores, key string) float64 {
	t.Helper()
	v, ok := s.Get(key)
	if !ok {
		t.Fatalf("no %s", key)
	}
	return v.Value
}

// The exact lists score 1 and as whole rankings do; damaged ones as a loop over all
// distances counts. Memory of a few kB makes several blocks of both sides.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, queries := range []bool{false, true} {
		for _, memory := range []int64{0, 4_000} {
			o := scored(t, 40)
			o.Eval.PerQuery, o.Eval.PerClass, o.Eval.Bootstrap, o.Out, o.Memory = false, false, 0, "", 0
			q, own := o.Embeddings, true
			if queries {
				q, o.QueryLabels.Path = written(t, filepath.Dir(o.Embeddings), "q.fvecs", 50, 3, 38)
				o.Queries, own = q, false
			}
			ranked, _, err := Evaluate(context.Background(), o, silent)
			if err != nil {
				t.Fatal(err)
			}
			o.Memory, o.Lists = memory, filepath.Join(filepath.Dir(o.Embeddings), "lists.ibin")
			index, square := loops(readAll(t, q), readAll(t, o.Embeddings), 3, 20, own)
			writeLists(t, o.Lists, index)
			e, err := Lists(context.Background(), o, true, silent)
			if err != nil {
				t.Fatal(err)
			}
			exact := e.Doc.Baselines["exact"].Retrieval
			for _, key := range []string{"recall@1", "recall@5", "map@r", "r_precision"} {
				want := value(t, ranked.Doc.Retrieval, key)
				if got, all := value(t, e.Doc.Retrieval, key), value(t, exact, key); got != want || all != want {
					t.Errorf("queries %v, memory %d: %s is %v, exact %v, want %v", queries, memory, key, got, all, want)
				}
			}
			if a, b := value(t, e.Doc.Retrieval, "nn_recall@1"), value(t, e.Doc.Retrieval, "nn_recall@5"); a != 1 || b != 1 || e.Doc.Excluded != ranked.Doc.Excluded {
				t.Errorf("exact lists: %v and %v", a, b)
			}
			damage(index, len(square[0]))
			writeLists(t, o.Lists, index)
			if e, err = Lists(context.Background(), o, true, silent); err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{1, 5} {
				if got, want := value(t, e.Doc.Retrieval, fmt.Sprint("nn_recall@", k)), counted(index, square, k, own); got != want || want == 1 {
					t.Errorf("queries %v, memory %d: nn_recall@%d is %v, want %v", queries, memory, k, got, want)
				}
			}
		}
	}
}

// damage replaces a third of the items of lists by others, or by none.
func damage(lists [][]int32, gallery int) {
	r := rand.New(rand.NewPCG(7, 7))
	for i, l := range lists {
		for j := range l {
			switch item := int32(r.IntN(gallery)); {
			case r.IntN(9) == 0:
				l[j] = -1
			case r.IntN(3) == 0 && int(item) != i && !slices.Contains(l, item):
				l[j] = item
			}
		}
	}
}

// counted is nn_recall@k: items no farther than the k-th nearest.
func counted(lists [][]int32, square [][]float64, k int, own bool) float64 {
	sum := 0.0
	for i, l := range lists {
		all := slices.Clone(square[i])
		if own {
			all = slices.Delete(all, i, i+1)
		}
		slices.Sort(all)
		n := 0
		for _, item := range l[:k] {
			if item >= 0 && square[i][item] <= all[k-1] {
				n++
			}
		}
		sum += float64(n) / float64(k)
	}
	return sum / float64(len(lists))
}

// What lists hold beyond neighbors: the query itself, as faiss gives it, items twice; and
// what they are too short for.
func TestListsAsTheyCome(t *testing.T) {
	t.Parallel()
	o := scored(t, 40)
	o.Eval.PerQuery, o.Eval.PerClass, o.Out = false, false, ""
	o.Lists = filepath.Join(filepath.Dir(o.Embeddings), "lists.ibin")
	x := readAll(t, o.Embeddings)
	index, _ := loops(x, x, 3, 4, true)
	for i := range index { // the query itself somewhere: 5 items, 4 without it
		index[i] = slices.Insert(slices.Clone(index[i]), i%5, int32(i))
	}
	lists := func(more bool, ks ...int) (*evaluate.Evaluation, error) {
		writeLists(t, o.Lists, index)
		o.Eval.Ks = ks
		return Lists(context.Background(), o, more, silent)
	}
	e, err := lists(false, 1, 4, 5)
	if err != nil {
		t.Fatal(err)
	}
	if v := value(t, e.Doc.Retrieval, "nn_recall@4"); v != 1 || !slices.Equal(e.Doc.Options.Ks, []int{1, 4}) {
		t.Errorf("nn_recall@4 is %v, k %v", v, e.Doc.Options.Ks)
	}
	if w := strings.Join(e.Doc.Warnings, "\n"); !strings.Contains(w, "300 lists are scored without the query's own row") || !strings.Contains(w, "map@r and r_precision are left out") {
		t.Errorf("warnings %q", w)
	}
	_, err = lists(true, 1, 5)
	if err == nil || !strings.Contains(err.Error(), "recall@5 takes lists of 5 items") || !strings.Contains(err.Error(), "has 4 without the query itself") {
		t.Errorf("error %v", err)
	}
	index[3] = []int32{3, 7, 7, 7, 8}
	if e, err = lists(false, 1, 4); err != nil || !strings.Contains(strings.Join(e.Doc.Warnings, "\n"), "1 list names an item twice") {
		t.Errorf("warnings %v, error %v", e, err)
	}
	o.Labels, o.Eval.Distance = npy.LabelFile{}, "cosine" // recall of neighbors alone
	if e, err = lists(false, 1); err != nil || len(e.Doc.Retrieval) != 1 || e.Doc.Baselines != nil {
		t.Errorf("without labels: %v, error %v", e, err)
	}
	index = index[1:]
	if _, err = lists(false, 1); err == nil || !strings.Contains(err.Error(), "has 299 lists, and ") {
		t.Errorf("a list less: error %v", err)
	}
}
