package text

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Plural is a number with its noun: "1 query", "2 queries".
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Count is Plural for a noun that takes an s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// List joins words with commas, and the last with the conjunction: "a, b or c".
func List(words []string, conjunction string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Some joins names with commas. Of more than six it gives the first six and the number of
// the others: "a, b, c, d, e, f and 3 more".
func Some(names []string) string {
	const most = 6
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// After is s behind a mark, as in ": why"; "" where s is empty.
func After(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}

// Eps is a length in the ball of an attack. In the linf ball it is in pixel levels, as
// 77/255 or 7.7/255, where it is a multiple of a tenth of one; otherwise a number of five
// digits.
func Eps(norm string, v float64) string {
	if tenths := float64(2550 * v); norm == "linf" && tenths > 0.5 && math.Abs(tenths-math.Round(tenths)) < 1e-6 {
		return fmt.Sprintf("%.5g/255", math.Round(tenths)/10)
	}
	return fmt.Sprintf("%.5g", v)
}

// EpsExact is Eps with all digits, to tell two budgets apart that Eps rounds to the same:
// whole pixel levels as 77/255, everything else as it is.
func EpsExact(norm string, v float64) string {
	if n := math.Round(255 * v); norm == "linf" && (n > 0 || v == 0) && math.Abs(float64(255*v)-n) < 1e-9 {
		return fmt.Sprintf("%.0f/255", n)
	}
	return fmt.Sprint(v)
}

// Duration is a time in seconds as people say it: "0.3 s", "45 s", "12m3s".
func Duration(seconds float64) string {
	switch {
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// Bytes is a size in the unit that shows it: "12 bytes", "3.4 kB", "1.2 GB".
func Bytes(n int64) string {
	switch v := float64(n); {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", v/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f kB", v/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Age is a time in seconds as a list has it, in one unit: "45 s", "12 min", "3 h", "9 days".
func Age(seconds float64) string {
	switch {
	case seconds < 100:
		return fmt.Sprintf("%.0f s", max(seconds, 0))
	case seconds < 100*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.0f h", seconds/3600)
	}
	return fmt.Sprintf("%.0f days", seconds/86400)
}
