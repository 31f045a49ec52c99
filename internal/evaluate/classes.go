package evaluate

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/embed/store"
	"tercet/internal/fsx"
	"tercet/internal/metric"
	"tercet/internal/record"
)

// classScores are the mean scores of the queries of each class, in the order of labels.
// names are those of the labels; nil: their numbers.
func classScores(ret *metric.Retrieval, labels []int32, names []string) []record.ClassScores {
	last := slices.Max(labels)
	all := make([]record.ClassScores, last+1)
	for _, y := range labels {
		all[y].Images++
	}
	sums := map[string][]float64{}
	for k, s := range ret.Scores {
		if strings.HasSuffix(s.Key, "(position-masked)") {
			continue
		}
		sum := make([]float64, last+1)
		for i, q := range ret.Query {
			sum[labels[q]] += ret.PerQuery[i*len(ret.Scores)+k]
		}
		sums[s.Key] = sum
	}
	for _, q := range ret.Query {
		all[labels[q]].Queries++
	}
	var out []record.ClassScores
	for y, c := range all {
		if c.Images == 0 {
			continue
		}
		if c.Class = strconv.Itoa(y); names != nil {
			c.Class = names[y]
		}
		if c.Queries > 0 {
			c.Scores = map[string]float64{}
			for key, sum := range sums {
				c.Scores[key] = sum[y] / float64(c.Queries)
			}
		}
		out = append(out, c)
	}
	return out
}

// keepClasses stores the scores of classes where it is asked for.
func keepClasses(d *record.Eval, classes func() ([]record.ClassScores, error)) (err error) {
	if d.Options.PerClass {
		d.Classes, err = classes()
	}
	return err
}

// labelNames are the names of the labels of a folder that package store wrote; nil for a
// file of labels.
func labelNames(embeddings string, labels []int32) ([]string, error) {
	if !store.Is(embeddings) {
		return nil, nil
	}
	items, err := store.ReadItems(embeddings)
	if err != nil {
		return nil, err
	}
	names := make([]string, slices.Max(labels)+1)
	for i, y := range labels {
		names[y] = items[i].Label
	}
	return names, nil
}

// WriteClasses writes the scores of each class to a file: a list of objects where its name
// ends in .json, else csv with a column for each score, empty for a class without a query
// that counts.
func (e *Evaluation) WriteClasses(path string) error {
	classes, err := e.classes()
	if err != nil {
		return err
	}
	return fsx.Write(path, 0o644, func(w io.Writer) error {
		if strings.EqualFold(filepath.Ext(path), ".json") {
			out := json.NewEncoder(w)
			out.SetIndent("", "  ")
			return out.Encode(classes)
		}
		return e.classTable(w, classes)
	})
}

func (e *Evaluation) classTable(w io.Writer, classes []record.ClassScores) error {
	var keys []string
	for _, s := range e.Retrieval.Scores {
		if !strings.HasSuffix(s.Key, "(position-masked)") {
			keys = append(keys, s.Key)
		}
	}
	out := csv.NewWriter(w)
	rows := [][]string{append([]string{"class", "images", "queries"}, keys...)}
	for _, c := range classes {
		row := []string{c.Class, strconv.Itoa(c.Images), strconv.Itoa(c.Queries)}
		for _, key := range keys {
			cell := ""
			if c.Queries > 0 {
				cell = strconv.FormatFloat(c.Scores[key], 'g', -1, 64)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}
