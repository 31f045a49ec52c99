package train

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/lists"
	"tercet/internal/run"
	"tercet/internal/train"
)

// sweepView is what a sweep shows of its runs.
type sweepView interface {
	watch(i int) run.Watch
	ended(run.Ended) // before its line is said
	end()
}

// serialView shows runs one after the other, each as if it were alone; of several
// each line names its run.
type serialView struct {
	view
	variants []*config.Config
}

func (v *serialView) watch(i int) run.Watch {
	if n := len(v.variants); n > 1 {
		v.name = v.variants[i].Name
		v.s.Note("run %d of %d: %s", i+1, n, v.name)
	}
	return v.view.watch()
}

func (v *serialView) ended(run.Ended) { v.view.end() }

// redraw is how often the bar over several runs is brought up to date.
const redraw = 100 * time.Millisecond

// manyView shows runs that are trained at once: a bar (or plain lines) over the
// runs, with the shares that those in training have done. Of the notes of runs it
// shows each kind once.
type manyView struct {
	s     *base.Streams
	names []string

	mu      sync.Mutex
	bar     *base.Progress
	at      map[int]float64 // share done of each run in training
	said    map[string]bool // formats
	drawn   time.Time
	trained bool // some run has ended that was not finished before
	over    int  // runs that have ended
}

func newManyView(s *base.Streams, variants []*config.Config) *manyView {
	v := &manyView{s: s, at: map[int]float64{}, said: map[string]bool{}, bar: s.Progress("sweep", int64(len(variants)))}
	for _, cfg := range variants {
		v.names = append(v.names, cfg.Name)
	}
	return v
}

func (v *manyView) watch(i int) run.Watch {
	return run.Watch{
		Step: func(st *train.State, of int, _ float64) { v.step(i, float64(st.Step)/float64(max(of, 1))) },
		Note: func(format string, args ...any) {
			v.mu.Lock()
			first := !v.said[format]
			v.said[format] = true
			v.mu.Unlock()
			if first {
				v.s.Note("%s", named(v.names[i], fmt.Sprintf(format, args...)))
			}
		},
	}
}

func (v *manyView) step(i int, done float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at[i] = done
	if now := v.s.Now(); now.Sub(v.drawn) >= redraw {
		v.drawn = now
		v.bar.Part(v.underWay())
		v.bar.Add(0, "%s", v.shares())
	}
}

// shares says how far the runs in training are, in the order of the sweep.
func (v *manyView) shares() string {
	if len(v.at) == 0 {
		return ""
	}
	runs := slices.Sorted(maps.Keys(v.at))
	parts := lists.Map(runs, func(i int) string { return fmt.Sprintf("%.0f %%", 100*v.at[i]) })
	return "in training: " + strings.Join(parts, ", ")
}

// underWay is how many runs' worth of training the runs in training have done.
func (v *manyView) underWay() float64 {
	var sum float64
	for _, share := range v.at {
		sum += share
	}
	return sum
}

func (v *manyView) ended(e run.Ended) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.at, e.Variant)
	if errors.Is(e.Err, train.ErrInterrupted) {
		return
	}
	v.over++
	if v.trained = v.trained || !e.Done; !v.trained {
		v.bar.Resume(int64(v.over)) // tells nothing of how long a run takes
		return
	}
	v.bar.Part(v.underWay())
	v.bar.Add(1, "%s", v.shares())
}

// end ends the bar.
func (v *manyView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bar != nil {
		v.bar.Done()
		v.bar = nil
	}
}
