package worst

import (
	"fmt"
	"maps"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/rng"
)

// blackBoxes: queries that gradients do not break but attacks without them do (B3, B10).
func (b *battery) blackBoxes() error {
	total := float64(len(b.s.By))
	only, noise := 0, []int(nil)
	for p, by := range b.s.By {
		if by == 0 {
			continue
		}
		switch b.s.Ran[by-1].Member {
		case "square", "square-rank", "rays":
			only++
		case "noise":
			noise = append(noise, p)
		}
	}
	found, err := b.apgdOf(noise, b.pgd, 0, nil)
	if err != nil {
		return err
	}
	only += len(noise) - count(found)
	b.add("B3", "queries that only attacks without gradients break", float64(only)/total, 0, max(3/total, 0.002))
	corners := 0
	err = b.batches(b.open(), func(w *batch) error {
		for draw := range batteryCorners {
			x := w.adv
			for i, item := range w.items {
				var s rng.Stream
				s.Reset(b.o.Seed, "worst.corners", uint64(item), uint64(draw))
				b.random(w.x.Row(i), x.Row(i), &s, true)
			}
			if err := b.ctx.Err(); err != nil {
				return err
			}
			b.look(w, x)
			for i := range w.items {
				if beaten(b.field, i) && !w.broken[i] {
					w.broken[i] = true
					corners++
				}
			}
		}
		return nil
	})
	b.add("B10", "queries that only 1,000 random corners of the ball break", b.share(corners), 0, 0.005)
	return err
}

// iterations: one step against many (B4), vanished gradients (B1), whether the objective
// still falls (B13) and whether more steps break more (B5).
func (b *battery) iterations() error {
	vanished, falling, unbroken := map[int]bool{}, 0, 0
	p := b.pgd
	p.Iterations = early
	if _, err := b.apgdOf(b.places, p, 1, func(place, i int, a *adversary.Attempt, _ *batch) {
		vanished[place] = a.Zero[i] > 0
	}); err != nil {
		return err
	}
	b.add("B1", "queries with an input gradient of 0 in the first 10 steps", b.share(count(vanished)), 0, 0.01)
	full, err := b.apgdOf(b.places, b.pgd, 1, func(_, i int, a *adversary.Attempt, _ *batch) {
		if a.Reached[i] {
			return
		}
		unbroken++
		if fall := a.First[i] - a.Objective[i]; fall > 0 && (a.Before[i]-a.Objective[i])/fall > largeStep {
			falling++
		}
	})
	if err != nil {
		return err
	}
	b.add("B13", "unbroken queries whose objective still falls in the last 10 steps", float64(falling)/float64(max(unbroken, 1)), 0.1, 0.3)
	p = b.pgd
	p.Rule, p.Iterations, p.Step = adversary.Fixed, 1, p.Eps
	once, err := b.apgdOf(b.places, p, 1, nil)
	if err != nil {
		return err
	}
	stuck := 0
	for place, is := range once {
		if is && !full[place] && b.s.By[place] == 0 {
			stuck++
		}
	}
	b.add("B4", "queries that one step breaks and the ensemble does not", b.share(stuck), 0, 0.005)
	open := b.open()
	var more [2]int
	for k := range more {
		p = b.pgd
		p.Iterations *= 2 << k
		found, err := b.apgdOf(open, p, 2+k, nil)
		if err != nil {
			return err
		}
		more[k] = count(found)
		open = slices.DeleteFunc(open, func(place int) bool { return found[place] })
	}
	b.add("B5", "further queries that twice the steps break", b.share(more[0]), 0.005, b.never)
	b.add("B5b", "further queries that four times the steps break", b.share(more[1]), 0.005, 0.02)
	return nil
}

// radii: smaller balls break no more (B7), all images at hand break everything (B8), and
// the gray image is of one class (B9).
func (b *battery) radii() error {
	last, rise := -1, 0
	for k := 3; k >= 0; k-- {
		p := b.pgd
		p.Eps = b.o.Eps / float64(int(1)<<k)
		found, err := b.apgdOf(b.places, p, 1, nil)
		if err != nil {
			return err
		}
		n := count(found)
		rise = max(rise, last-n)
		last = n
	}
	b.add("B7", "largest fall of the broken queries from a ball to the next larger one", b.share(rise), 0.005, 0.02)
	if b.o.Norm != adversary.Linf {
		return nil
	}
	h, w, c := b.images.Shape()
	gray := array.New(1, h, w, c)
	for k := range gray.Data {
		gray.Data[k] = 0.5
	}
	z, right, labels := b.model.Embed(gray, nn.Eval).Clone(), 0, map[int32]int{}
	for _, p := range b.places {
		b.field.aim(b.items[p : p+1])
		b.field.find(z, b.field.depth())
		if labels[b.gallery.Label(b.items[p])]++; !beaten(b.field, 0) {
			right++
		}
	}
	most := 0 // of the classes that may be among the nearest rows of one point
	for _, n := range slices.Sorted(maps.Values(labels))[max(0, len(labels)-b.field.depth()):] {
		most += n
	}
	b.add("B9", "queries right at the gray image, over the largest class", max(0, b.share(right-most)), 0, 0)
	return nil
}

// furtherStarts is the number of random starts of check B6.
const furtherStarts = 5

// restarts: whether more random starts break more queries than the ensemble (B6).
func (b *battery) restarts() error {
	open, p, further := b.open(), b.pgd, 0
	p.Start = adversary.FromRandom
	for run := range furtherStarts {
		found, err := b.apgdOf(open, p, 10+run, nil) // runs 0 to 4 are of other checks
		if err != nil {
			return err
		}
		further += count(found)
		open = slices.DeleteFunc(open, func(place int) bool { return found[place] })
	}
	b.add("B6", "further queries that 5 more random starts break", b.share(further), 0.005, 0.02)
	return nil
}

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
