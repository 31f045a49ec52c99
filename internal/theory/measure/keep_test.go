package measure

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"tercet/internal/record"
)

// shelf keeps JSON in memory.
type shelf struct {
	kept  map[string][]byte
	found int
}

func (s *shelf) Load(key string, v any) bool {
	b, ok := s.kept[key]
	if ok {
		s.found++
	}
	return ok && json.Unmarshal(b, v) == nil
}

func (s *shelf) Store(key string, v any, _ float64) (err error) {
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[key], err = json.Marshal(v)
	return err
}

func written(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Interrupted after any setting, a claim continues to the bits that it has in one go.
func TestClaimsGoOn(t *testing.T) {
	pool := few(t, record.Sizes{Pos: 90, Neg: 90})
	for id, settings := range map[string]int{"T3": 4, "T7": 4} {
		c, _ := ClaimOf(id)
		s := Study{Source: pool, Zeta: .1, Delta: .01, Repeats: 2, Triplets: 20, Most: record.Sizes{Pos: 50, Neg: 50}, Held: record.Sizes{Pos: 10, Neg: 10}}
		want, err := c.Test(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		kept, goes := &shelf{}, 0
		for done := false; !done; goes++ {
			ctx, cancel := context.WithCancel(context.Background())
			before := len(kept.kept)
			s.Keep = kept
			s.Done = func(string, record.Sizes, record.Estimate) {
				if len(kept.kept) > before {
					cancel()
				}
			}
			got, err := c.Test(ctx, s)
			cancel()
			switch {
			case errors.Is(err, context.Canceled):
			case err != nil:
				t.Fatal(err)
			default:
				got.Seconds, want.Seconds, done = 0, 0, true
				if written(t, got) != written(t, want) {
					t.Errorf("%s: other bits after %d goes", id, goes)
				}
			}
		}
		if len(kept.kept) != settings || kept.found == 0 || goes < settings {
			t.Errorf("%s: %d settings kept, %d found, %d goes", id, len(kept.kept), kept.found, goes)
		}
	}
}

func TestSweepsGoOn(t *testing.T) {
	o := SweepOptions{
		Source: few(t, record.Sizes{Pos: 40, Neg: 40}), Learner: RRM{Loss: lossOf(t, "logistic", .1), Sigma: record.Scale{Factor: 1}}, Sizes: even(4, 8),
		Repeats: 2, Replaced: 1, Fresh: 1, Triples: 1, Triplets: 20, Held: record.Sizes{Pos: 5, Neg: 5}, Delta: .01,
	}
	for name, f := range map[string]func(context.Context, SweepOptions) ([]record.MetricSeries, error){"stability": Stability, "gap": Gaps} {
		want, err := f(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		kept := &shelf{}
		o := o
		o.Keep = kept
		for range 2 {
			got, err := f(context.Background(), o)
			if err != nil || written(t, got) != written(t, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n := len(kept.kept); n == 0 || kept.found != n {
			t.Errorf("%s: %d kept, %d found", name, n, kept.found)
		}
	}
}

// What a result depends on is in its key.
func TestKeys(t *testing.T) {
	pool := few(t, record.Sizes{Pos: 40, Neg: 40})
	a := RRM{Loss: lossOf(t, "logistic", .1), Sigma: record.Scale{Factor: 1}}
	base := UniformOptions{Source: pool, Learner: a, Sizes: record.Sizes{Pos: 4, Neg: 4}, Repeats: 2}
	seen := map[string]bool{base.key(): true}
	for name, change := range map[string]func(*UniformOptions){
		"points": func(o *UniformOptions) { o.Source = pool.OnSphere() },
		"circle": func(o *UniformOptions) { o.Source = Circle{} },
		"sigma":  func(o *UniformOptions) { a.Sigma.Factor = 2; o.Learner = a },
		"learner": func(o *UniformOptions) {
			o.Learner = SGD{Loss: a.Loss, C: 1, Steps: record.Scale{Factor: 1, Power: 1}, Radius: 1}
		},
		"sizes":    func(o *UniformOptions) { o.Sizes.Neg = 5 },
		"repeats":  func(o *UniformOptions) { o.Repeats = 3 },
		"seed":     func(o *UniformOptions) { o.Seed = 1 },
		"triplets": func(o *UniformOptions) { o.Triplets = 9 },
	} {
		o := base
		change(&o)
		if k := o.key(); seen[k] || k == "" {
			t.Errorf("%s is not in the key %q", name, k)
		}
		seen[base.key()] = true
	}
	if (UniformOptions{Source: clouds{}}).key() != "" {
		t.Error("a source of unknown points has a key")
	}
}

// Sizes are checked before any is measured.
func TestSizesAreCheckedFirst(t *testing.T) {
	o := SweepOptions{
		Source: few(t, record.Sizes{Pos: 40, Neg: 40}), Learner: RRM{Loss: lossOf(t, "logistic", .1), Sigma: record.Scale{Factor: 1}}, Repeats: 1,
		Replaced: 1, Fresh: 1, Triples: 5, Triplets: 10, Held: record.Sizes{Pos: 12, Neg: 5},
		Done: func(string, record.Sizes, record.Estimate) { t.Error("a size was measured") },
	}
	for want, c := range map[string]struct {
		f     func(context.Context, SweepOptions) ([]record.MetricSeries, error)
		sizes []record.Sizes
	}{
		"up to n = 26": {Stability, even(5, 27)}, // 36 positives, of which 10 are fresh
		"up to n = 24": {Gaps, even(5, 25)},
		"given twice":  {Gaps, even(5, 5)},
	} {
		o.Sizes = c.sizes
		if _, err := c.f(context.Background(), o); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o.Sizes, o.Done = even(26), nil
	if _, err := Stability(context.Background(), o); err != nil {
		t.Error(err)
	}
}
