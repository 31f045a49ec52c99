package theory

import (
	"context"
	"fmt"

	"tercet/internal/record"
)

// PartitionFile is the name of a Partition in a run.
const PartitionFile = "partition.json"

// FindPartition draws graphs and finds the best partition of each, as Simulate does.
//
// Errors: those of Simulate; ctx's where it is done, with nothing found.
func FindPartition(ctx context.Context, s record.PartitionSetting, o SimOptions) (*record.Partition, error) {
	o.Classes, o.PerClass, o.P, o.Negatives = s.Classes, s.PerClass, s.P, s.Negatives
	sim, err := Simulate(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("%d classes of %d images, P = %v: %w", s.Classes, s.PerClass, s.P, err)
	}
	p := &record.Partition{Schema: record.PartitionSchema, PartitionSetting: s, Seed: o.Seed, Pairs: sim.Pairs, Proven: sim.Proven, Multicut: sim.Multicut}
	for _, d := range sim.Draws {
		p.Errors = append(p.Errors, d.Errors)
	}
	return p, nil
}

// PartitionCovers says whether p is all that another measurement of so many draws would be.
func PartitionCovers(p *record.Partition, s record.PartitionSetting, seed uint64, draws int) bool {
	return p.PartitionSetting == s && p.Seed == seed && len(p.Errors) >= draws && p.Proven == len(p.Errors)
}
