package runs

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tercet/internal/archive"
	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/lists"
	"tercet/internal/names"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/rundir"
	"tercet/internal/summary"
	"tercet/internal/text"
)

// found is a run directory with what could be read of it.
type found struct {
	printed.ListedRun
	run *rundir.Run // nil where there is no manifest, or a file cannot be read
}

// find reads the runs that patterns name, with their results of some kinds.
func find(patterns []string, kinds ...string) ([]found, error) {
	dirs, err := rundir.Find(patterns)
	if err != nil {
		return nil, report.RunsError(err)
	}
	return lookAt(dirs, kinds...)
}

// lookAt reads run directories with all processors.
func lookAt(dirs []string, kinds ...string) (out []found, err error) {
	out = make([]found, len(dirs))
	var mu sync.Mutex
	par.For(len(dirs), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f, e := look(dirs[i], kinds...)
			out[i] = f
			if e != nil {
				mu.Lock()
				err = errors.Join(err, e)
				mu.Unlock()
			}
		}
	})
	return out, err
}

// look reads a run directory. What is wrong with its files is its status.
func look(dir string, kinds ...string) (found, error) {
	f := found{ListedRun: printed.ListedRun{RunState: printed.RunState{SweptRun: printed.SweptRun{Dir: dir}}}}
	state, m, err := standing(dir)
	f.SweptRun = state
	if err != nil {
		return f, err
	}
	if f.Bytes, err = rundir.Size(dir); err != nil {
		f.Status, f.Message = printed.Unreadable, err.Error()
		return f, nil
	}
	if m == nil {
		return f, nil
	}
	if f.read(m, kinds...); f.run == nil {
		return f, nil
	}
	f.Best, f.Started, f.Updated, f.Seconds, f.Cost = m.Best, m.Started, m.Updated, m.Seconds, m.Cost
	if m.Best != nil && m.Selection != nil {
		f.Split = m.Selection.Split
	}
	return f, nil
}

// read reads the results of a run with the manifest m. What is wrong with them is its status.
func (f *found) read(m *record.Manifest, kinds ...string) {
	var err error
	if f.run, err = rundir.ReadScores(f.Dir, m, kinds...); err != nil {
		f.Status, f.Message, f.run = printed.Unreadable, err.Error(), nil
	}
}

// standing is that of a run directory, with its manifest, nil where there is none to be used;
// of one in an archive it is what the manifest says.
func standing(dir string) (printed.SweptRun, *record.Manifest, error) {
	if _, err := os.Stat(dir); err == nil {
		return run.StandingWith(dir)
	}
	out := printed.SweptRun{Dir: dir, Status: printed.Unreadable}
	path := filepath.Join(dir, "manifest.json")
	if _, err := archive.Stat(path); err != nil {
		out.Message = err.Error()
		return out, nil, nil
	}
	m, err := record.ReadIfThere[record.Manifest](path)
	if err != nil {
		out.Message = err.Error()
		return out, nil, nil
	}
	out.Status, out.Message, out.Steps, out.Of = m.Status, m.Message, m.Steps, m.Of
	return out, m, nil
}

// setScore takes the score that is listed: key, or where that is "" recall@1, and where no
// run has that the first that one has. Where eval.json alone, which was read, does not have
// it, the other results are read, too.
func setScore(runs []found, key string) (string, error) {
	key = names.Score(key)
	all := scoreKeys(runs)
	if !slices.Contains(all, cmp.Or(key, standardScore)) {
		par.For(len(runs), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if f := &runs[i]; f.run != nil {
					f.read(&f.run.Manifest)
				}
			}
		})
		all = scoreKeys(runs)
	}
	switch {
	case key == "" && (all == nil || slices.Contains(all, standardScore)):
		key = standardScore
	case key == "":
		key = all[0]
	case !slices.Contains(all, key) && all != nil:
		return "", base.Usagef("no run has the score %s; %s", key, names.Unknown(key, all))
	}
	for i := range runs {
		if r := runs[i].run; r != nil {
			if v, ok := r.Scores().Get(key); ok {
				runs[i].Score = &v
			}
		}
	}
	return key, nil
}

// scoreKeys are the scores that runs have.
func scoreKeys(runs []found) []string {
	var all []string
	for _, f := range runs {
		if f.run == nil {
			continue
		}
		for _, s := range f.run.Scores() {
			all = lists.AppendNew(all, s.Key)
		}
	}
	return all
}

const standardScore = "recall@1"

// orders are what runs can be sorted by, each in the order that people look for first.
var orders = map[string]func(a, b found, score string) int{
	"name":     func(a, b found, _ string) int { return text.Natural(a.Dir, b.Dir) },
	"age":      func(a, b found, _ string) int { return cmp.Compare(b.Started, a.Started) },
	"updated":  func(a, b found, _ string) int { return cmp.Compare(b.Updated, a.Updated) },
	"time":     func(a, b found, _ string) int { return cmp.Compare(b.Seconds, a.Seconds) },
	"size":     func(a, b found, _ string) int { return cmp.Compare(b.Bytes, a.Bytes) },
	"progress": func(a, b found, _ string) int { return cmp.Compare(progress(b), progress(a)) },
	"status":   func(a, b found, _ string) int { return cmp.Compare(a.Status, b.Status) },
	"score":    byScore,
}

// progress is the share of the steps that are done.
func progress(f found) float64 { return float64(f.Steps) / float64(max(f.Of, 1)) }

// byScore has the best first and runs without the score last.
func byScore(a, b found, score string) int {
	switch {
	case a.Score == nil && b.Score == nil:
		return 0
	case a.Score == nil:
		return 1
	case b.Score == nil:
		return -1
	}
	c := cmp.Compare(b.Score.Value, a.Score.Value)
	if higher, err := summary.HigherIsBetter(score); err == nil && !higher {
		return -c
	}
	return c
}

// SortKeys are what runs can be sorted by.
func SortKeys() []string {
	return []string{"name", "age", "updated", "progress", "score", "time", "size", "status"}
}

// Statuses are the states of runs, as lists have them: of any config, so that none is of
// another one.
func Statuses() []string {
	var out []string
	for _, s := range printed.Statuses() {
		if s != printed.OtherRun {
			out = append(out, string(s))
		}
	}
	return out
}

// checkStatuses refuses words that are no status.
func checkStatuses(words []string) error {
	for _, w := range words {
		if !slices.Contains(Statuses(), w) {
			return base.Usagef("--status has no %q; %s", w, names.Unknown(w, Statuses()))
		}
	}
	return nil
}
