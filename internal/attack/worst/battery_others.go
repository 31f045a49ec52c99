package worst

import (
	"fmt"

	"tercet/internal/engine/adversary"
)

// plainEps is the budget at which the ensemble should break all that a network without
// defense retrieves.
const plainEps = 77.0 / 255

// networks: queries that only images of other networks break (B11), and whether the ensemble
// breaks a network without defense (B17).
func (b *battery) networks() error {
	only, plain := 0, 0.0
	for _, m := range b.s.Ran {
		if m.Member == others {
			only += m.Broken
		}
	}
	if b.o.Others == nil {
		return nil
	}
	b.add("B11", "queries that only images made for other networks break", float64(only)/float64(len(b.s.By)), 0, 0.002)
	if b.o.Norm != adversary.Linf {
		return nil
	}
	seen := false
	for _, o := range b.o.Others {
		if !o.Plain {
			continue
		}
		seen = true
		r, err := Run(b.ctx, o.Model, b.images, o.Gallery, Options{
			Norm: b.o.Norm, Eps: plainEps, K: b.o.K, Queries: min(len(b.items), batteryQueries), Sample: b.o.Sample, Seed: b.o.Seed,
			Steps: b.o.Steps, Squares: b.o.Squares, Together: b.o.Together, members: b.o.members,
		})
		if err != nil {
			return fmt.Errorf("network without defense: %w", err)
		}
		c := r.Galleries[0].Counts()
		plain = max(plain, float64(c.Robust)/float64(c.Queries))
	}
	if seen {
		b.add("B17", "queries of a network without defense that survive at 77/255", plain, 0.01, 0.05)
	}
	return nil
}
