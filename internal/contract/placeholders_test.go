package contract

import (
	"regexp"
	"strings"

	"tercet/internal/run"
)

// placeholders is all that two runs of one command line may differ in: patterns
// of it, and what stands in the goldens instead. They apply to stdout, stderr and
// the files, in this order.
var placeholders = []struct {
	what    string
	pattern *regexp.Regexp
	with    string
}{
	{"progress lines, which come by the clock", regexp.MustCompile(`(?m)^[^\n"]+: \d+(/\d+ \(\d+ %\))?, ` + duration + `(, about ` + duration + ` left)?(;[^\n]*)?\n`), ""},
	{"times of JSON", regexp.MustCompile(`"((?:[a-z_]*_)?seconds|images_per_s)": ?-?[0-9.e+-]+`), `"$1": T`},
	{"times of day", regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d| UTC)?`), "TIME"},
	{"a step's time", regexp.MustCompile(`\b[0-9.]+ ms a step`), "T a step"},
	{"durations of text", regexp.MustCompile(`\b([0-9.]+ s|(\d+h)?\d+m\d+s)\b`), "T s"},
	{"the build, the processor and the system", regexp.MustCompile(`"(version|cpu|os|go|commit|processor)": ?"[^"]*"`), `"$1": "X"`},
	{"digests of documents that have times", regexp.MustCompile(`"(digest|sha256)": ?"[0-9a-f]{64}"`), `"$1": "SHA"`},
	{"estimated memory", regexp.MustCompile(`"((?:data_)?memory_bytes)": ?\d+`), `"$1": N`},
	{"threads", regexp.MustCompile(`"threads": ?\d+`), `"threads": N`},
}

// duration is what time.Duration.String makes of rounded times.
const duration = `(?:\d+h)?(?:\d+m)?[\d.]+m?s`

// scrub puts the placeholders into a text that was made in the folder dir of a
// checkout at root.
func scrub(text, dir, root string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	text = strings.ReplaceAll(text, root, "ROOT")
	text = strings.ReplaceAll(text, run.CPUName(), "PROCESSOR")
	for _, p := range placeholders {
		text = p.pattern.ReplaceAllString(text, p.with)
	}
	return text
}
