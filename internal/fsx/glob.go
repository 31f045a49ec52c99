package fsx

import "strings"

// QuoteGlob is the pattern of filepath.Glob that matches only the path.
func QuoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
