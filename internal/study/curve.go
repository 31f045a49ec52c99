package study

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/rundir"
)

// moment is an evaluation during training.
type moment struct {
	step, epoch float64
	errors      map[string]float64
}

// readCurve reads the evaluations in a log of events, by ascending step; events name an
// error by the accuracy that it is the rest of. A last line that was cut short is passed
// over; a step that was done again counts as it was last. There may be no such file.
func readCurve(path string, events map[string]string) ([]moment, error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", rundir.ErrRun, err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	at := map[float64]moment{}
	bad := 0 // the line that could not be read
	for n := 1; in.Scan(); n++ {
		if bad > 0 {
			return nil, fmt.Errorf("%w: %s:%d: not valid JSON of an event", rundir.ErrRun, path, bad)
		}
		if !bytes.Contains(in.Bytes(), []byte(`"metrics"`)) {
			continue
		}
		var e record.Event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			bad = n
			continue
		}
		m := moment{float64(e.Step), e.Epoch, map[string]float64{}}
		for name, accuracy := range events {
			if v, ok := e.Metrics[accuracy]; ok {
				m.errors[name] = 1 - v
			}
		}
		if len(m.errors) > 0 {
			at[m.step] = m
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", rundir.ErrRun, path, err)
	}
	return slices.SortedFunc(maps.Values(at), func(a, b moment) int { return cmp.Compare(a.step, b.step) }), nil
}

// during lists the moments at which every observation of a row has an error, with its
// values in the order of the observations.
func (row *Row) during(name string) (at []moment, values [][]float64) {
	for _, m := range row.obs[0].curve {
		var v []float64
		for _, o := range row.obs {
			k, ok := slices.BinarySearchFunc(o.curve, m.step, func(q moment, step float64) int { return cmp.Compare(q.step, step) })
			if !ok {
				continue
			}
			if x, ok := o.curve[k].errors[name]; ok {
				v = append(v, x)
			}
		}
		if len(v) == len(row.obs) {
			at, values = append(at, m), append(values, v)
		}
	}
	return at, values
}
