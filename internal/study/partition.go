package study

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"tercet/internal/lists"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/stat"
	"tercet/internal/study/observe"
	"tercet/internal/text"
	"tercet/internal/theory"
)

// PartitionTask is a setting of runs on pair graphs. Runs do not keep their graphs, so
// its best partition is computed by exact multicuts on newly drawn graphs.
type PartitionTask struct {
	record.PartitionSetting
	Dirs []string // the runs

	stored map[string]*record.Partition
}

// StoredIn is what a run of the task has; nil where it has none.
func (t *PartitionTask) StoredIn(dir string) *record.Partition { return t.stored[dir] }

// PartitionTasks are the settings of finished runs with noise on dense pairs and same-index
// negatives: those of other negatives take minutes a graph, and sparse pairs or pairs
// without noise have no such error. The runs of no task are others. table is one whose
// fields are those of runs on pair graphs.
//
// Errors wrap rundir.ErrRun: files that cannot be used.
func PartitionTasks(table *Table, runs []*rundir.Run) (tasks []*PartitionTask, others []string, err error) {
	all, _, err := table.Read(runs)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range runs {
		k := slices.IndexFunc(all, func(o *observe.Observation) bool { return o.Run.Dir == r.Dir })
		if k < 0 || !partitioned(all[k]) {
			others = append(others, r.Dir)
			continue
		}
		stored, err := readPartition(r.Dir)
		if err != nil {
			return nil, nil, err
		}
		s := partitionSetting(all[k])
		i := slices.IndexFunc(tasks, func(t *PartitionTask) bool { return t.PartitionSetting == s })
		if i < 0 {
			i, tasks = len(tasks), append(tasks, &PartitionTask{PartitionSetting: s, stored: map[string]*record.Partition{}})
		}
		t := tasks[i]
		t.Dirs, t.stored[r.Dir] = append(t.Dirs, r.Dir), stored
	}
	return tasks, others, nil
}

// partitioned says whether graphs like the run's have a best partition that is worth
// finding.
func partitioned(o *observe.Observation) bool {
	s := partitionSetting(o)
	return o.Fields["kind"] == noise.PairLabel && s.Negatives == noise.SameIndex && o.Fields["scenario"] != noise.Sparse && s.P > 0 && s.P <= 0.5 && s.PerClass > 0
}

// partitionSetting is that of graphs like the run's, which have as many images of each
// class, but for a few.
func partitionSetting(o *observe.Observation) record.PartitionSetting {
	classes, _ := strconv.Atoi(o.Fields["classes"])
	pairs, _ := strconv.Atoi(o.Fields["pairs"])
	p, _ := strconv.ParseFloat(o.Fields["wanted"], 64)
	return record.PartitionSetting{Classes: classes, PerClass: pairs / 2 / max(1, classes), P: p, Negatives: o.Fields["negatives"]}
}

// readPartition reads partition.json of a run; nil where there is none.
func readPartition(dir string) (*record.Partition, error) {
	p, path := &record.Partition{}, filepath.Join(dir, theory.PartitionFile)
	found, err := rundir.ReadDocument(path, p, record.PartitionSchema)
	if err != nil || !found {
		return nil, err
	}
	if p.Pairs < 1 || len(p.Errors) == 0 {
		return nil, fmt.Errorf("%w: %s: %d draws of %d pairs", rundir.ErrRun, path, len(p.Errors), p.Pairs)
	}
	for _, e := range p.Errors {
		if e < 0 || e > p.Pairs {
			return nil, fmt.Errorf("%w: %s: %d wrong of %d pairs", rundir.ErrRun, path, e, p.Pairs)
		}
	}
	return p, nil
}

// partitions adds what the best sets of classes get wrong of pairs with such noise, as far
// as it is stored in one of a row's runs.
func partitions(rows []*Row) (notes []string, err error) {
	var without, unproven []string
	for _, row := range rows {
		if !partitioned(row.obs[0]) {
			continue
		}
		p, err := row.partition()
		switch {
		case err != nil:
			return nil, err
		case p == nil:
			without = append(without, row.Runs...)
		case p.Proven < len(p.Errors):
			unproven = append(unproven, row.Runs...)
		default:
			shares := lists.Map(p.Errors, func(e int) float64 { return float64(e) / float64(p.Pairs) })
			row.Scores["multicut"] = EstimateOf(shares)
		}
	}
	if without != nil {
		notes = append(notes, "no error of the best partition for "+text.Some(without)+": `tercet bound partition RUN...` finds and stores it")
	}
	if unproven != nil {
		notes = append(notes, "best partitions that are not proven are not shown: "+text.Some(unproven))
	}
	return notes, nil
}

// partition is what the first of the row's runs that has one has stored; nil where none
// has. All are read, so that a damaged one is an error.
func (row *Row) partition() (first *record.Partition, err error) {
	want := partitionSetting(row.obs[0])
	for _, dir := range row.Runs {
		p, err := readPartition(dir)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if p.PartitionSetting != want {
			return nil, fmt.Errorf("%w: %s is of %d classes of %d images, P = %v; the run has %d classes of %d images, P = %v", rundir.ErrRun,
				filepath.Join(dir, theory.PartitionFile), p.Classes, p.PerClass, p.P, want.Classes, want.PerClass, want.P)
		}
		if first == nil {
			first = p
		}
	}
	return first, nil
}

// sortedMargin is how near the share that draws give a found one must be, as a part of it.
// It was set on 2026-11-22, after the runs in results/: until then a rule asked for an
// interval that holds the value.
const sortedMargin = 0.1

// foundShare is the share of wrong pairs that was drawn, with Wilson's interval over all
// pairs; draws is what is expected of lists that are sorted by class, where that is known.
func foundShare(i *item, _ *ClaimQuantity) []measured {
	row := i.row()
	wrong, pairs := 0.0, 0
	for _, o := range row.obs {
		n, _ := o.Number("manifest.data.graph.pairs")
		wrong += float64(o.Values["effective"] * n)
		pairs += int(n)
	}
	if pairs == 0 {
		return nil
	}
	interval := stat.Wilson(int(math.Round(wrong)), pairs)
	each, _ := row.obs[0].Number("manifest.data.graph.pairs")
	classes, _ := strconv.Atoi(row.Fields["classes"])
	wanted, _ := strconv.ParseFloat(row.Fields["wanted"], 64)
	images := int(each) / (2 * max(1, classes))
	words := map[string]string{"images": fmt.Sprint(images)}
	if want, _, err := noise.Sorted(wanted, classes, images); err == nil {
		words["draws"], words["draws percent"] = strconv.FormatFloat(want, 'g', -1, 64), fmt.Sprintf("%.2f", 100*want)
		words["tenth"] = strconv.FormatFloat(sortedMargin*want, 'g', -1, 64)
	}
	return []measured{{estimate: Estimate{Value: wrong / float64(pairs), CI95: &interval, N: row.N}, words: words, binomial: true}}
}
