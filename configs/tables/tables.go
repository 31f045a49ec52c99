// Package tables holds the descriptions of the papers' tables, so that the binary
// knows them wherever it stands. The folders beside it hold the configs of the runs
// that fill them.
package tables

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names lists the tables in the order of the alphabet.
func Names() []string {
	entries, _ := files.ReadDir(".") // what is embedded is there
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Read returns the description of a table and the path it has in the sources; ok
// is false where there is none of that name.
func Read(name string) (text []byte, file string, ok bool) {
	if strings.ContainsAny(name, `/\`) {
		return nil, "", false
	}
	text, err := files.ReadFile(name + ".yaml")
	return text, path.Join("configs/tables", name+".yaml"), err == nil
}
