package observe

import (
	"cmp"
	"maps"
	"slices"

	"tercet/internal/record"
)

// Moment is an evaluation during training.
type Moment struct {
	Step, Epoch float64
	Errors      map[string]float64
}

// ReadCurve reads the evaluations in a log of events, by ascending step; events name an
// error by the accuracy that it is the rest of. A step that was done again counts as it was
// last. There may be no such file.
func ReadCurve(path string, events map[string]string) ([]Moment, error) {
	at := map[float64]Moment{}
	err := scanEvents(path, `"metrics"`, func(e *record.Event) {
		m := Moment{float64(e.Step), e.Epoch, map[string]float64{}}
		for name, accuracy := range events {
			if v, ok := e.Metrics[accuracy]; ok {
				m.Errors[name] = 1 - v
			}
		}
		if len(m.Errors) > 0 {
			at[m.Step] = m
		}
	})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(at), func(a, b Moment) int { return cmp.Compare(a.Step, b.Step) }), nil
}
