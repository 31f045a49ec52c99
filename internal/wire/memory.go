package wire

import (
	"fmt"

	"tercet/internal/data/batch"
	"tercet/internal/engine/mine"
	"tercet/internal/train"
)

// boundMemory refuses a memory of embeddings with which the miner of t would refuse a batch:
// it counts the labels of each batch with those in the memory, up to an epoch with a full one.
// labels are those of the images that sampler draws.
func boundMemory(t *train.Trainer, sampler batch.Sampler, labels []int32) error {
	miner, ok := t.Miner.(mine.Bounded)
	if !ok || sampler.Steps() == 0 {
		return nil
	}
	m, perEpoch := t.Memory, sampler.Steps()
	last := min(t.Steps, m.From+m.Size/max(sampler.BatchSize(), 1)+1+perEpoch)
	count, kept := map[int32]int{}, []int32(nil)
	var plan [][]int32
	for step := range last {
		if step%perEpoch == 0 {
			plan = sampler.Plan(step / perEpoch)
		}
		items := plan[step%perEpoch]
		for _, i := range items {
			count[labels[i]]++
			kept = append(kept, labels[i])
		}
		if err := miner.Bound(count); err != nil {
			return fmt.Errorf("in step %d, with the memory: %w", step+1, err)
		}
		drop := kept[:max(0, len(kept)-m.Size)]
		if step < m.From {
			drop = kept
		}
		for _, l := range drop {
			count[l]--
		}
		kept = kept[len(drop):]
	}
	return nil
}
