package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"tercet/internal/fsx"
	"tercet/internal/record"
)

// PairResult is pairs.json (tercet.pairs/1): how a run tells pairs at its end. Errors
// are fractions of the pairs.
type PairResult struct {
	Parameters      int        `json:"parameters"`
	Steps           int        `json:"steps"`
	Train           PairError  `json:"train"`       // by the labels trained on
	TrainClean      PairError  `json:"train_clean"` // the same pairs by true labels
	Test            *PairError `json:"test"`        // nil where no pairs of test images were judged
	FloorDuplicates float64    `json:"floor_duplicates"`
	Theorem         *struct {
		ESim  float64 `json:"e_sim"`
		Lower float64 `json:"lower"`
		EDiff float64 `json:"e_diff"`
	} `json:"theorem"` // nil where Theorem 1 does not speak of the graph
}

// PairError is the error on one set of pairs.
type PairError struct {
	Pairs int     `json:"pairs"`
	Error float64 `json:"error"`
}

// noiseRecord is what a manifest says of noise: of labels, pairs or triplets.
type noiseRecord struct {
	Kind      string  `json:"kind"`
	Wanted    float64 `json:"wanted"`    // the rate asked for, of what is disturbed
	Found     float64 `json:"found"`     // the rate that was drawn
	Effective float64 `json:"effective"` // wanted share of wrong pairs, half of them similar
}

// graphRecord is what a manifest says of a pair graph.
type graphRecord struct {
	Scenario  string  `json:"scenario"`
	Negatives string  `json:"negatives"`
	Order     string  `json:"order"`
	Pairs     int     `json:"pairs"`
	Effective float64 `json:"effective"` // share of wrong pairs
}

// disturbed is the part of a manifest about noise and tuples.
type disturbed struct {
	Data struct {
		Noise *noiseRecord `json:"noise"`
		Graph *graphRecord `json:"graph"`
	} `json:"data"`
}

// disturbance reads it.
func (r *RunDir) disturbance() (*disturbed, error) {
	d := &disturbed{}
	_, err := readDocument(filepath.Join(r.Dir, "manifest.json"), d, record.RunSchema)
	return d, err
}

// pairRun is a run on a pair graph.
type pairRun struct {
	*RunDir
	result *PairResult
	noise  noiseRecord // kind "none" where there is none
	graph  graphRecord
	curve  []pairPoint
}

// pairPoint is an evaluation during training. Errors are NaN where they were not
// measured.
type pairPoint struct {
	step, epoch, test, train float64
}

// readPairRun reads what a run on pairs has left; nil where the run has no pairs.json.
func readPairRun(r *RunDir, curve bool) (*pairRun, error) {
	p := &pairRun{RunDir: r, result: &PairResult{}}
	path := filepath.Join(r.Dir, "pairs.json")
	found, err := readDocument(path, p.result, record.PairsSchema)
	if err != nil || !found {
		return nil, err
	}
	d, err := r.disturbance()
	if err != nil {
		return nil, err
	}
	if d.Data.Graph == nil {
		return nil, fmt.Errorf("%w: %s is there, but manifest.json describes no pair graph", ErrRun, path)
	}
	for _, e := range []*PairError{&p.result.Train, &p.result.TrainClean, p.result.Test} {
		if e != nil && !(e.Pairs > 0 && e.Error >= 0 && e.Error <= 1) {
			return nil, fmt.Errorf("%w: %s: an error of %v on %d pairs", ErrRun, path, e.Error, e.Pairs)
		}
	}
	p.graph, p.noise.Kind = *d.Data.Graph, "none"
	if n := d.Data.Noise; n != nil {
		p.noise = *n
	}
	if curve {
		p.curve, err = readPairCurve(filepath.Join(r.Dir, "events.jsonl"))
	}
	return p, err
}

// readPairCurve reads the evaluations of pairs in events.jsonl, by ascending step. A
// last line that was cut short is passed over; a step that was done again counts as it
// was last.
func readPairCurve(path string) ([]pairPoint, error) {
	f, _, err := fsx.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRun, err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 16<<20)
	at := map[float64]pairPoint{}
	bad := 0 // the line that could not be read
	for n := 1; in.Scan(); n++ {
		if bad > 0 {
			return nil, fmt.Errorf("%w: %s:%d: not valid JSON of an event", ErrRun, path, bad)
		}
		if !bytes.Contains(in.Bytes(), []byte("pair_")) {
			continue
		}
		var e struct {
			Step    float64            `json:"step"`
			Epoch   float64            `json:"epoch"`
			Metrics map[string]float64 `json:"metrics"`
		}
		if json.Unmarshal(in.Bytes(), &e) != nil {
			bad = n
			continue
		}
		p := pairPoint{e.Step, e.Epoch, math.NaN(), math.NaN()}
		for key, to := range map[string]*float64{"pair_accuracy": &p.test, "pair_train_accuracy": &p.train} {
			if v, ok := e.Metrics[key]; ok {
				*to = 1 - v
			}
		}
		if !math.IsNaN(p.test) || !math.IsNaN(p.train) {
			at[p.step] = p
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRun, path, err)
	}
	var out []pairPoint
	for _, p := range at {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b pairPoint) int {
		if a.step < b.step {
			return -1
		}
		return 1
	})
	return out, nil
}

// online says whether the run saw a pair or an image once only: pairs drawn anew for
// each epoch, images distorted anew each time, or one epoch in all.
func (p *pairRun) online() bool {
	is := func(key, value string) bool { v, _ := p.label(key); return v == value }
	strength, _ := p.label("data.distort.strength")
	return is("batch.redraw", "true") || is("data.distort.fresh", "true") && strength != "0" || is("train.epochs", "1")
}

// width is the config's model.width, 0 where the model has none.
func (p *pairRun) width() int {
	text, _ := p.label("model.width")
	n, _ := strconv.Atoi(text)
	return n
}
