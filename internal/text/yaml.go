package text

import (
	"regexp"
	"strconv"
)

var (
	plainWord = regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./+@-]*$`)
	notString = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n|\.+|[.]?(inf|nan))$`)
)

// YAML writes a text as YAML, with quotes unless it reads as itself without.
func YAML(s string) string {
	if plainWord.MatchString(s) && !notString.MatchString(s) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return s
		}
	}
	return strconv.Quote(s)
}
