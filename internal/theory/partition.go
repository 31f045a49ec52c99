package theory

import (
	"context"
	"fmt"

	"tercet/internal/record"
)

// PartitionFile is the name of a Partition in a run.
const PartitionFile = "partition.json"

// Partition is the error of the best partitions of graphs that were drawn as those of
// runs: no relation that is transitive has a lesser one. Schema tercet.partition/1.
type Partition struct {
	Schema string `json:"schema"`
	PartitionSetting
	Seed  uint64 `json:"seed"`
	Pairs int    `json:"pairs"` // of each graph
	// Errors are the pairs that the best partition found gets wrong, for each draw;
	// Proven counts the draws of which none is better.
	Errors   []int `json:"errors"`
	Proven   int   `json:"proven"`
	Multicut Mean  `json:"multicut"` // their share of the pairs
}

// PartitionSetting says which graphs are drawn.
type PartitionSetting struct {
	Classes   int     `json:"classes"`
	PerClass  int     `json:"per_class"`
	P         float64 `json:"p"` // probability that a pair's label is wrong
	Negatives string  `json:"negatives"`
}

// FindPartition draws graphs and finds the best partition of each, as Simulate does.
//
// Errors: those of Simulate; ctx's where it is done, with nothing found.
func FindPartition(ctx context.Context, s PartitionSetting, o SimOptions) (*Partition, error) {
	o.Classes, o.PerClass, o.P, o.Negatives = s.Classes, s.PerClass, s.P, s.Negatives
	sim, err := Simulate(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%d classes of %d images, P = %v: %w", s.Classes, s.PerClass, s.P, err)
	}
	p := &Partition{Schema: record.PartitionSchema, PartitionSetting: s, Seed: o.Seed, Pairs: sim.Pairs, Proven: sim.Proven, Multicut: sim.Multicut}
	for _, d := range sim.Draws {
		p.Errors = append(p.Errors, d.Errors)
	}
	return p, nil
}

// Covers says whether p is all that another measurement of so many draws would be.
func (p *Partition) Covers(s PartitionSetting, seed uint64, draws int) bool {
	return p.PartitionSetting == s && p.Seed == seed && len(p.Errors) >= draws && p.Proven == len(p.Errors)
}
