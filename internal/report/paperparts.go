package report

import (
	"fmt"
	"slices"
)

// partByAttack parts groups of runs whose attack scores are not of the same attack,
// so that no mean is over several budgets, numbers of queries or sets of images.
// Runs without such scores, or not finished, stay with the first part of their group.
func (s *Summary) partByAttack() {
	var out []*Group
	for _, g := range s.Groups {
		var kinds []string
		var parts []*Group
		var without []*RunDir
		for _, r := range g.runs {
			if r.Attack == nil || !r.finished() {
				without = append(without, r)
				continue
			}
			kind := fmt.Sprintf("%s of %d images of %s", budget(r.Attack), r.Attack.Source.Items, r.Attack.Source.Set)
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

// lost says that a run has no result: it collapsed or diverged.
func (r *RunDir) lost() bool {
	return r.Manifest.Status == "collapsed" || r.Manifest.Status == "diverged"
}

// finished says that a run's training came to its end.
func (r *RunDir) finished() bool { return r.Manifest.Status == "finished" }
