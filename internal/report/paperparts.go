package report

import (
	"fmt"
	"slices"

	"tercet/internal/rundir"
)

// partByAttack parts groups of runs whose attack scores are not of the same attack,
// so that no mean is over several budgets, numbers of queries or sets of images.
// Runs without such scores, or not finished, stay with the first part of their group.
func partByAttack(s *Summary) {
	var out []*Group
	for _, g := range s.Groups {
		var kinds []string
		var parts []*Group
		var without []*rundir.Run
		for _, r := range g.runs {
			if r.Attack == nil || !r.Finished() {
				without = append(without, r)
				continue
			}
			kind := fmt.Sprintf("%s of %d images of %s", rundir.Budget(r.Attack), r.Attack.Source.Items, r.Attack.Source.Set)
			i := slices.Index(kinds, kind)
			if i < 0 {
				kinds, parts, i = append(kinds, kind), append(parts, emptyGroup()), len(parts)
			}
			parts[i].take(r)
		}
		if len(parts) < 2 {
			out = append(out, g)
			continue
		}
		for _, r := range without {
			parts[0].take(r)
		}
		out = append(out, parts...)
	}
	s.Groups = out
	s.name()
}
