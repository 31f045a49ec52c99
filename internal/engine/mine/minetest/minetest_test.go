package minetest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// broken is a miner with a mistake.
type broken struct {
	mine.Miner
	spoil func(out *loss.Tuples, s *mine.Stats, err *error)
}

func (b broken) Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (mine.Stats, error) {
	s, err := b.Miner.Mine(z, labels, r, out)
	b.spoil(out, &s, &err)
	return s, err
}

// recorder is a test that keeps its failures to itself.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func TestCheckFindsMistakes(t *testing.T) {
	calls, sink := 0, []byte(nil)
	for want, spoil := range map[string]func(out *loss.Tuples, s *mine.Stats, err *error){
		"of labels": func(out *loss.Tuples, _ *mine.Stats, _ *error) {
			for i := range out.Triplets {
				out.Triplets[i].N = out.Triplets[i].A
			}
		},
		"triplets of 7 anchors": func(out *loss.Tuples, s *mine.Stats, _ *error) {
			out.Triplets, *s = out.Triplets[:len(out.Triplets)/2], mine.Stats{Easy: len(out.Triplets) / 2}
		},
		"Easy:0 Semihard:0 Hard:0":     func(_ *loss.Tuples, s *mine.Stats, _ *error) { *s = mine.Stats{} },
		"gives other triplets":         func(_ *loss.Tuples, s *mine.Stats, _ *error) { calls++; s.Fallback = calls },
		"threads mine other":           func(_ *loss.Tuples, s *mine.Stats, _ *error) { s.Fallback = par.Threads() },
		"allocations a batch":          func(_ *loss.Tuples, _ *mine.Stats, _ *error) { sink = make([]byte, 100) },
		"one class: <nil>":             func(_ *loss.Tuples, _ *mine.Stats, err *error) { *err = nil },
		"of an earlier batch are left": func(out *loss.Tuples, _ *mine.Stats, _ *error) { out.Triplets = append(out.Triplets, loss.Triplet{}) },
	} {
		r := &recorder{TB: t}
		done := make(chan bool)
		go func() {
			defer close(done)
			m := subject{name: "broken", o: mine.Options{Margin: 0.3}}
			m.make = func(o mine.Options) (mine.Miner, error) {
				miner, err := mine.New("semihard", o)
				return broken{miner, spoil}, err
			}
			m.check(r)
		}()
		<-done
		if said := strings.Join(r.said, "\n"); !strings.Contains(said, want) {
			t.Errorf("want %q, got %s", want, said)
		}
	}
	_ = sink
}
