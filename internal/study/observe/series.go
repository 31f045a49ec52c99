package observe

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/archive"
	"tercet/internal/record"
	"tercet/internal/rundir"
)

// Series is a score of what the log of a run has for each logged step: a mean over the
// steps since the one before.
type Series struct {
	Of string `yaml:"of"` // loss, penalty, hardness or active
	// By is settled: the share of the training after which all logged values are below
	// Limit, 1 where the last one is not; first, last: those values.
	By    string `yaml:"by"`
	Limit string `yaml:"limit"` // a source
}

// logged are the values of a step that Series.Of names.
var logged = map[string]func(*record.Event) *float64{
	"loss":    func(e *record.Event) *float64 { return e.Loss },
	"penalty": func(e *record.Event) *float64 { return e.Penalty },
	"active":  func(e *record.Event) *float64 { return e.Active },
	"hardness": func(e *record.Event) *float64 {
		if e.Crafted == nil {
			return nil
		}
		return e.Crafted.Achieved
	},
}

// summaries are what Series.By names, of values by ascending step.
var summaries = map[string]func(steps []int, values []float64, limit float64) float64{
	"first": func(_ []int, values []float64, _ float64) float64 { return values[0] },
	"last":  func(_ []int, values []float64, _ float64) float64 { return values[len(values)-1] },
	"settled": func(steps []int, values []float64, limit float64) float64 {
		at := 0
		for i, v := range values {
			if v >= limit {
				at = steps[i]
			}
		}
		return float64(at) / float64(steps[len(steps)-1])
	},
}

// check refuses what there is not.
func (s *Series) check(fields []string) error {
	if logged[s.Of] == nil {
		return fmt.Errorf("series.of is %q; give one of %s", s.Of, strings.Join(slices.Sorted(maps.Keys(logged)), ", "))
	}
	if summaries[s.By] == nil {
		return fmt.Errorf("series.by is %q; give one of %s", s.By, strings.Join(slices.Sorted(maps.Keys(summaries)), ", "))
	}
	if s.By == "settled" {
		return checkSource(s.Limit, fields)
	}
	return nil
}

// value is the score of a run; false where its log has no such values, or there is no limit.
func (s *Series) value(o *Observation) (float64, bool, error) {
	limit := 0.0
	if s.Limit != "" {
		if err := o.load(s.Limit); err != nil {
			return 0, false, err
		}
		var ok bool
		if limit, ok = o.Number(s.Limit); !ok {
			return 0, false, nil
		}
	}
	at := map[int]float64{}
	err := scanEvents(filepath.Join(o.Run.Dir, "events.jsonl"), `"step"`, func(e *record.Event) {
		if v := logged[s.Of](e); e.Kind == "step" && v != nil {
			at[e.Step] = *v
		}
	})
	if err != nil || len(at) == 0 {
		return 0, false, err
	}
	steps := slices.Sorted(maps.Keys(at))
	values := make([]float64, len(steps))
	for i, step := range steps {
		values[i] = at[step]
	}
	return summaries[s.By](steps, values, limit), true, nil
}

// scanEvents calls use with each event of a log whose line contains a text. A last line
// that was cut short is passed over. There may be no such file.
func scanEvents(path, contains string, use func(*record.Event)) error {
	f, _, err := archive.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", rundir.ErrRun, err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	bad := 0 // the line that could not be read
	for n := 1; in.Scan(); n++ {
		if bad > 0 {
			return fmt.Errorf("%w: %s:%d: not valid JSON of an event", rundir.ErrRun, path, bad)
		}
		if !bytes.Contains(in.Bytes(), []byte(contains)) {
			continue
		}
		var e record.Event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			bad = n
			continue
		}
		use(&e)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", rundir.ErrRun, path, err)
	}
	return nil
}
