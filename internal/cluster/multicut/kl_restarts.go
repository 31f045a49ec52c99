package multicut

import (
	"context"
	"slices"

	"tercet/internal/rng"
)

// restarts mixes two clusters at random and descends, again and again; what is not
// better is undone.
func (k *klSearch) restarts(ctx context.Context) error {
	if k.o.Restarts == 0 {
		return nil
	}
	p := k.p
	r := rng.New(k.o.Seed, "multicut/kernighan-lin")
	best, label, own := k.objective(), slices.Clone(p.label), slices.Clone(p.own)
	for range k.o.Restarts {
		k.round++
		k.mix(int32(k.round), r)
		if _, err := k.descend(ctx); err != nil {
			return err
		}
		if now := k.objective(); now < best-k.least {
			best = now
			copy(label, p.label)
			copy(own, p.own)
			continue
		}
		p.reset(label)
		copy(p.own, own)
	}
	return nil
}

// mix deals the nodes of two clusters with an edge between them out to the two by
// the toss of a coin. A random node and a random neighbor tell which; where both
// are of one cluster, the other is empty.
func (k *klSearch) mix(round int32, r *rng.Stream) {
	p := k.p
	v := int32(r.IntN(len(p.label)))
	a, b := p.label[v], p.label[k.g.neighbor(v, r)]
	if a == b {
		b = p.empty()
	}
	first, second := slices.Clone(p.groups[a]), slices.Clone(p.groups[b])
	for _, v := range first {
		if r.IntN(2) == 0 {
			k.g.move(v, a, b)
		}
	}
	for _, v := range second {
		if r.IntN(2) == 0 {
			k.g.move(v, b, a)
		}
	}
	p.touch(a, round)
	p.touch(b, round)
	k.g.disconnect(round, round)
}
