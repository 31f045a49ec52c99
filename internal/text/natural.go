package text

import (
	"cmp"
	"strings"
)

// Natural compares names so that seed-2 comes before seed-10.
func Natural(a, b string) int {
	digits := func(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
	x, y := a, b
	for x != "" && y != "" {
		if p, q := digits(x), digits(y); p != "" && q != "" {
			m, n := strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); c != 0 {
				return c
			}
			x, y = x[len(p):], y[len(q):]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}
