package rundir

import (
	"fmt"

	"tercet/internal/text"
)

// GroupNames calls each group of runs by their common name, or by its first directory where
// names alone would not tell groups apart.
func GroupNames(groups [][]*Run) []string {
	seen := map[string]int{}
	out := make([]string, len(groups))
	for i, runs := range groups {
		out[i] = CommonName(runs)
		seen[out[i]]++
	}
	for i, runs := range groups {
		if seen[out[i]] > 1 {
			if out[i] = runs[0].Dir; len(runs) > 1 {
				out[i] += fmt.Sprintf(" and %d more", len(runs)-1)
			}
		}
	}
	return out
}

// Pooled says in what runs of a group differ that should be the same: their version, their
// kernels. That a seed is there twice is said by SameSeed.
func Pooled(name string, runs []*Run) []string {
	return append(Differ(runs, name+": made by different versions", (*Run).Versions), Differ(runs, name+": made at different kernel levels", (*Run).Kernels)...)
}

// SameSeed says which runs of a group have one seed: their interval is too narrow.
func SameSeed(name string, runs []*Run) []string {
	seeds := map[uint64]string{}
	var twice []string
	for _, r := range runs {
		if first, ok := seeds[r.Manifest.Seed]; ok {
			twice = append(twice, fmt.Sprintf("%s and %s (%d)", first, r.Dir, r.Manifest.Seed))
			continue
		}
		seeds[r.Manifest.Seed] = r.Dir
	}
	if twice == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: the same seed twice, so the interval is too narrow: %s", name, text.Some(twice))}
}
