package report

import (
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/theory"
)

// PartitionTask is a setting of runs on pair graphs, of which the best partition can be
// found by exact multicuts of drawn graphs, since the runs do not keep theirs.
type PartitionTask struct {
	theory.PartitionSetting
	Dirs []string // the runs

	stored map[string]*theory.Partition
}

// StoredIn is what a run of the task has; nil where it has none.
func (t *PartitionTask) StoredIn(dir string) *theory.Partition { return t.stored[dir] }

// PartitionTasks are the settings of finished runs with noise on dense pairs and
// same-index negatives: those of other negatives take minutes a graph, and sparse pairs or
// pairs without noise have no such error. The runs of no task are others.
//
// Errors wrap ErrRun: files that cannot be used.
func PartitionTasks(runs []*RunDir) (tasks []*PartitionTask, others []string, err error) {
	for _, r := range runs {
		p, err := readPairRun(r, false)
		if err != nil {
			return nil, nil, err
		}
		if p == nil || !r.finished() || !p.row().partitioned() {
			others = append(others, r.Dir)
			continue
		}
		stored, err := readPartition(r.Dir)
		if err != nil {
			return nil, nil, err
		}
		s := p.row().partitionSetting()
		i := slices.IndexFunc(tasks, func(t *PartitionTask) bool { return t.PartitionSetting == s })
		if i < 0 {
			i, tasks = len(tasks), append(tasks, &PartitionTask{PartitionSetting: s, stored: map[string]*theory.Partition{}})
		}
		t := tasks[i]
		t.Dirs, t.stored[r.Dir] = append(t.Dirs, r.Dir), stored
	}
	return tasks, others, nil
}

// partitioned says whether the row's graphs have a best partition that is worth finding.
func (row *PairRow) partitioned() bool {
	return row.Noise == noise.PairLabel && row.Negatives == noise.SameIndex && row.Scenario != noise.Sparse && row.Wanted > 0 && row.Wanted <= 0.5 && row.partitionSetting().PerClass > 0
}

// partitionSetting is that of graphs like the row's, which have as many images of each
// class, but for a few.
func (row *PairRow) partitionSetting() theory.PartitionSetting {
	return theory.PartitionSetting{Classes: row.Classes, PerClass: row.Pairs / 2 / row.Classes, P: row.Wanted, Negatives: row.Negatives}
}

// readPartition reads partition.json of a run; nil where there is none.
func readPartition(dir string) (*theory.Partition, error) {
	p, path := &theory.Partition{}, filepath.Join(dir, theory.PartitionFile)
	found, err := readDocument(path, p, record.PartitionSchema)
	if err != nil || !found {
		return nil, err
	}
	if p.Pairs < 1 || len(p.Errors) == 0 {
		return nil, fmt.Errorf("%w: %s: %d draws of %d pairs", ErrRun, path, len(p.Errors), p.Pairs)
	}
	for _, e := range p.Errors {
		if e < 0 || e > p.Pairs {
			return nil, fmt.Errorf("%w: %s: %d wrong of %d pairs", ErrRun, path, e, p.Pairs)
		}
	}
	return p, nil
}

// partitions fills what the best sets of classes get wrong of pairs with such noise, as
// far as it is stored in one of a row's runs.
func (s *PairStudy) partitions() error {
	var without, unproven []string
	for i := range s.Floors {
		f := &s.Floors[i]
		if !f.row.partitioned() {
			continue
		}
		p, err := f.row.partition()
		switch {
		case err != nil:
			return err
		case p == nil:
			without = append(without, f.row.Dirs...)
		case p.Proven < len(p.Errors):
			unproven = append(unproven, f.row.Dirs...)
		default:
			var shares []float64
			for _, e := range p.Errors {
				shares = append(shares, float64(e)/float64(p.Pairs))
			}
			e := estimateOf(shares)
			f.Multicut = &e
		}
	}
	if without != nil {
		s.Notes = append(s.Notes, "no error of the best partition for "+render.Listed(without)+": `tercet bound partition RUN...` finds and stores it")
	}
	if unproven != nil {
		s.Notes = append(s.Notes, "best partitions that are not proven are not shown: "+render.Listed(unproven))
	}
	return nil
}

// partition is what the first of the row's runs that has one has stored; nil where none
// has. All are read, so that a damaged one is an error.
func (row *PairRow) partition() (first *theory.Partition, err error) {
	for _, dir := range row.Dirs {
		p, err := readPartition(dir)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if p.PartitionSetting != row.partitionSetting() {
			return nil, fmt.Errorf("%w: %s is of %d classes of %d images, P = %v; the run has %d classes of %d images, P = %v", ErrRun,
				filepath.Join(dir, theory.PartitionFile), p.Classes, p.PerClass, p.P, row.Classes, row.partitionSetting().PerClass, row.Wanted)
		}
		if first == nil {
			first = p
		}
	}
	return first, nil
}
