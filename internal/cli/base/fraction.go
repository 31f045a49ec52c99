package base

import (
	"strconv"
	"strings"
)

// Fraction reads the value of a flag that is a length in pixels: 0.03 or 8/255.
func Fraction(flag, s string) (float64, error) {
	over, under, ok := strings.Cut(s, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	if err == nil && ok {
		var d float64
		if d, err = strconv.ParseFloat(strings.TrimSpace(under), 64); err == nil {
			v /= d
		}
	}
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0, Usagef("%s %q is not a number such as 0.03 or 8/255", flag, s)
	}
	return v, nil
}
