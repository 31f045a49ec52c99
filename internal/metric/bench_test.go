package metric

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRetrieveLarge evaluates as many embeddings as Stanford Online Products has
// test images and checks the process's peak memory. It takes about a minute:
//
//	TERCET_LARGE=1 go test -run TestRetrieveLarge -v ./internal/metric
func TestRetrieveLarge(t *testing.T) {
	if testing.Short() || os.Getenv("TERCET_LARGE") == "" {
		t.Skip("set TERCET_LARGE=1 to evaluate 60,502 embeddings")
	}
	const n, d, k = 60502, 512, 11316
	r := rand.New(rand.NewPCG(1, 1))
	x, l := normals(r, n, d), make([]int32, n)
	for i := range l {
		l[i] = int32(i % k)
	}
	begin := time.Now()
	got, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d x %d, %d classes: %v", n, d, k, time.Since(begin).Round(time.Millisecond))
	// A class of 6 has 5 relevant items among 60,501 at random.
	if v, _ := got.Scores.Get("recall@8"); math.Abs(v.Value-8*4.35/n) > 4*math.Sqrt(8*4.35)/n {
		t.Errorf("recall@8 of random embeddings is %v", v.Value)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no peak memory on this system")
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			t.Logf("peak memory %s", strings.TrimSpace(rest))
		}
	}
}

// TestNeighborsLarge finds the 11 nearest of as many rows and checks some of
// them by sorting.
func TestNeighborsLarge(t *testing.T) {
	if testing.Short() || os.Getenv("TERCET_LARGE") == "" {
		t.Skip("set TERCET_LARGE=1 to search 60,502 embeddings")
	}
	const n, d, k = 60502, 512, 11
	r := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"normal", "clustered"} {
		x := normals(r, n, d)
		if name == "clustered" {
			middle := normals(r, 100, d)
			for i := range x {
				x[i] += 2 * middle[i/d%100*d+i%d]
			}
		}
		begin := time.Now()
		got, err := Neighbors(context.Background(), x, n, d, NeighborOptions{K: k, Self: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %d x %d: %v", name, n, d, time.Since(begin).Round(time.Millisecond))
		for q := 3; q < n; q += n / 8 {
			want, _ := plainNeighbors(x[q*d:(q+1)*d], x, d, k, false)
			if !slices.Equal(got.Index[q*k:(q+1)*k], want) {
				t.Errorf("%s query %d: %v, want %v", name, q, got.Index[q*k:(q+1)*k], want)
			}
		}
	}
}

func BenchmarkRank(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	keys := normals(r, 1, 60502)
	for name, relevant := range map[string]int{"5": 5, "100": 100, "6000": 6000} {
		list := make([]int32, relevant)
		for i := range list {
			list[i] = int32(i * (len(keys) / relevant))
		}
		b.Run(name, func(b *testing.B) {
			var w rowScratch
			w.rank(keys, list)
			b.ReportAllocs()
			for b.Loop() {
				w.rank(keys, list)
			}
		})
	}
}

// Classes of 5, by whole rows of keys (neighbors are asked for) and by counting.
func BenchmarkRetrieve(b *testing.B) {
	const n, d = 6000, 512
	r := rand.New(rand.NewPCG(1, 1))
	x, l := normals(r, n, d), make([]int32, n)
	for i := range l {
		l[i] = int32(i % (n / 5))
	}
	for name, near := range map[string]int{"rows": 1, "counting": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Retrieve(context.Background(), x, n, d, l, RetrievalOptions{Neighbors: near, Intervals: Intervals{Resamples: -1}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
