package tracker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/rundir"
)

// settings are the keys of a run's config in which runs of one configuration are the same:
// all but the name and the seed.
func settings(r *rundir.Run) []rundir.Label {
	return slices.DeleteFunc(slices.Clone(r.Labels), func(l rundir.Label) bool {
		return l.Key == "name" || l.Key == "seed" || l.Key == "sweep"
	})
}

// group is the same for runs that differ in their seeds alone.
func group(r *rundir.Run) string {
	var b strings.Builder
	for _, l := range settings(r) {
		b.WriteString(l.Key + "=" + l.Value + "\n")
	}
	return digest(b.String())[:12]
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Names are what the runs are called where they stand together: the names of their
// directories, and their paths for those that share one. No two are the same.
func Names(runs []*rundir.Run) []string {
	count := map[string]int{}
	for _, r := range runs {
		count[r.Name()]++
	}
	var out []string
	for _, r := range runs {
		name := r.Name()
		if count[name] > 1 {
			name = strings.Trim(strings.NewReplacer("../", "", "./", "").Replace(r.Dir), "/")
			name = strings.ReplaceAll(name, "/", "-")
		}
		free := name
		for n := 2; slices.Contains(out, free); n++ { // as of a/x and ../a/x
			free = fmt.Sprintf("%s-%d", name, n)
		}
		out = append(out, free)
	}
	return out
}
