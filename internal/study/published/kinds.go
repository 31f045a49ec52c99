package published

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"tercet/internal/rundir"
	"tercet/internal/study/observe"
	"tercet/internal/text"
)

// assign sorts runs into rows. A run that belongs to two is an error; those of none are left
// over.
func (p *Table) assign(runs []*rundir.Run) (of [][]*rundir.Run, left []string, err error) {
	of = make([][]*rundir.Run, len(p.Rows))
	for _, r := range runs {
		at := -1
		for i := range p.Rows {
			if !p.Rows[i].Match.Fits(func(key string) string { return publishedKey(r, key) }) {
				continue
			}
			if at >= 0 {
				return nil, nil, fmt.Errorf("%s belongs to two rows of the table, %s and %s: their match sections must differ", r.Dir, p.rowName(at), p.rowName(i))
			}
			at = i
		}
		if at < 0 {
			left = append(left, r.Dir)
			continue
		}
		of[at] = append(of[at], r)
	}
	return of, left, nil
}

// publishedKey is a config key of a run. The source of a defense's triplets is the miner
// where none is set.
func publishedKey(r *rundir.Run, key string) string {
	v, _ := r.Label(key)
	if miner, there := r.Label("miner.name"); key == "defense.source" && v == "null" && there {
		return miner
	}
	return v
}

// publishedKinds parts runs that differ in more than the seed, and those that were not
// attacked in the same way, so that no mean is over several budgets, numbers of queries or
// sets of images. Runs without an attack, or not finished, stay with the first part.
func publishedKinds(runs []*rundir.Run) [][]*rundir.Run {
	groups, order := observe.GroupBy(runs, func(r *rundir.Run) string {
		var b strings.Builder
		for _, l := range r.Labels {
			if l.Key != "name" && l.Key != "seed" {
				fmt.Fprintf(&b, "%q=%q;", l.Key, l.Setting())
			}
		}
		return b.String()
	})
	var out [][]*rundir.Run
	for _, id := range order {
		unattacked := func(r *rundir.Run) bool { return r.Attack == nil || !r.Finished() }
		parts, budgets := observe.GroupBy(slices.DeleteFunc(slices.Clone(groups[id]), unattacked), func(r *rundir.Run) string {
			return fmt.Sprintf("%s of %d images of %s", rundir.Budget(r.Attack), r.Attack.Source.Items, r.Attack.Source.Set)
		})
		if len(budgets) < 2 {
			out = append(out, groups[id])
			continue
		}
		for k, budget := range budgets {
			part := parts[budget]
			if k == 0 {
				part = append(part, slices.DeleteFunc(slices.Clone(groups[id]), func(r *rundir.Run) bool { return !unattacked(r) })...)
			}
			out = append(out, part)
		}
	}
	return out
}

// etaOf is the number of PGD steps that a run's training crafts with, 0 without
// crafting: HM whose destination is its source trains on clean images.
func etaOf(r *rundir.Run) int {
	steps, _ := r.Label("defense.pgd.steps")
	source := publishedKey(r, "defense.source")
	destination, _ := r.Label("defense.destination.name")
	n, err := strconv.Atoi(steps)
	if err != nil || source != "" && source == destination {
		return 0
	}
	return n
}

// ended says which runs of a kind have no numbers.
func ended(name string, kind []*rundir.Run) (out []string) {
	open, lost := 0, 0
	for _, r := range kind {
		switch {
		case r.Lost():
			lost++
		case !r.Finished():
			open++
		}
	}
	if open > 0 {
		out = append(out, fmt.Sprintf("%s: unfinished and not counted: %d of %s", name, open, text.Plural(len(kind), "run", "runs")))
	}
	if over := len(kind) - open; lost > 0 && lost < over {
		out = append(out, fmt.Sprintf("%s: %d of the %d runs collapsed or diverged; the numbers are of the others", name, lost, over))
	}
	return out
}
