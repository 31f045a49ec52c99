package names

import "strings"

// Score is the full name of a score: r@1 and R@1 are short for recall@1.
func Score(name string) string {
	if k, ok := strings.CutPrefix(strings.ToLower(name), "r@"); ok {
		return "recall@" + k
	}
	return name
}
