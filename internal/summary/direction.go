package summary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/attack"
)

// lower are the scores of evaluations of which lower is better.
var lower = []string{"triplet_error", "pairs.eer", "hub@1", "hub@1:clean"}

// HigherIsBetter says which values of a score are better. Sizes, such as the number of
// clusters, are neither.
func HigherIsBetter(score string) (bool, error) {
	key, _, _ := strings.Cut(strings.TrimPrefix(score, "clean:"), "(")
	if key == "cluster:clusters" {
		return false, fmt.Errorf("%s is a number of clusters: neither higher nor lower is better", score)
	}
	return !slices.Contains(lower, key) && !strings.HasPrefix(key, "pairs.fnmr@") && !attack.LowerIsRobust(key), nil
}

// ends are those of the range of a score; ok is false where a range is not known.
func ends(score string) (low, high float64, ok bool) {
	key := strings.TrimPrefix(strings.TrimPrefix(score, "cluster:"), "pairs.")
	switch {
	case key == "ami" || key == "ari":
		return -1, 1, true
	case headline.MatchString(key), key != score && key != "clusters", strings.HasPrefix(key, "ES:R"):
		return 0, 1, true
	}
	return 0, 0, false
}
