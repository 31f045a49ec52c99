package vectors

import (
	"path/filepath"
	"slices"
	"strings"

	"tercet/internal/data/fault"
)

// format is a layout of files: what is before all rows and before each, and the numbers.
type format struct {
	name    string
	kind    string // of a number: f4, u1, i1, i4; of npy as its header says
	perRow  bool   // each row begins with its length
	integer bool   // lists of neighbors
}

var formats = []format{
	{name: "npy"},
	{name: "fbin", kind: "f4"},
	{name: "u8bin", kind: "u1"},
	{name: "i8bin", kind: "i1"},
	{name: "ibin", kind: "i4", integer: true},
	{name: "fvecs", kind: "f4", perRow: true},
	{name: "bvecs", kind: "u1", perRow: true},
	{name: "ivecs", kind: "i4", perRow: true, integer: true},
}

// Written are the names of the formats that Write knows.
func Written() []string { return []string{"npy", "fbin", "fvecs", "u8bin", "bvecs"} }

// FormatOf is the name of the format that a path ends in, "" for none that is known.
func FormatOf(path string) string {
	f, ok := formatOf(path)
	if !ok {
		return ""
	}
	return f.name
}

// IsVectors reports whether a path ends as a file of vectors does that is not npy.
func IsVectors(path string) bool {
	f, ok := formatOf(path)
	return ok && !f.integer && f.name != "npy"
}

func formatOf(path string) (format, bool) {
	end := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == end })
	if i < 0 {
		return format{}, false
	}
	return formats[i], true
}

// Formats lists the formats of vectors that are read, or those of lists of neighbors.
func Formats(lists bool) []string {
	var out []string
	for _, f := range formats {
		if f.integer == lists || f.name == "npy" {
			out = append(out, f.name)
		}
	}
	return out
}

// known is the format of a path that is to hold vectors, or lists of neighbors.
func known(path string, integer bool) (format, error) {
	f, ok := formatOf(path)
	if !ok || f.name != "npy" && f.integer != integer {
		what := "vectors"
		if integer {
			what = "lists of neighbors"
		}
		return f, fault.Unfit("%s: the end of the name says how %s are stored; give a file that ends in one of %s", path, what, strings.Join(Formats(integer), ", "))
	}
	return f, nil
}
