package names

import "strings"

// longest bounds the words whose edits are counted, in bytes: no name is longer,
// and the cost is the product of the two lengths.
const longest = 64

// Closest returns the word of the list that word was most likely meant to be, or
// "" where none is near: at most a third of its letters differ and not all, or one
// begins with the other. A name that begins with word is nearer than one of which two
// letters differ. The first of equally near ones wins; case does not count.
func Closest(word string, list []string) string {
	best, bestCost := "", 1+max(1, (len(word)+1)/3)
	for _, w := range list {
		if len(word) > longest || len(w) > longest {
			continue
		}
		if c := edits(strings.ToLower(word), strings.ToLower(w)); c < bestCost && c < len(word) {
			best, bestCost = w, c
		}
	}
	if len(word) >= 3 && bestCost > 1 { // a longer word is meant rather than one with two other letters
		for _, w := range list {
			if len(w) <= longest && strings.HasPrefix(w, word) {
				return w
			}
		}
	}
	if best == "" && len(word) >= 3 {
		for _, w := range list {
			if strings.HasPrefix(w, word) || len(w) >= 3 && strings.HasPrefix(word, w) {
				return w
			}
		}
	}
	return best
}

// edits is the distance of a and b in insertions, deletions, substitutions and
// swaps of neighbors (optimal string alignment), in bytes.
func edits(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
