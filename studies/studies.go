// Package studies holds the descriptions of the studies, so that the binary knows them
// wherever it is run.
package studies

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names lists the studies in alphabetical order.
func Names() []string {
	entries, _ := files.ReadDir(".") // what is embedded is there
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return out
}

// Read returns the description of a study and the path that it has in the sources; ok is
// false where there is none of that name.
func Read(name string) (text []byte, file string, ok bool) {
	if strings.ContainsAny(name, `/\`) {
		return nil, "", false
	}
	text, err := files.ReadFile(name + ".yaml")
	return text, path.Join("studies", name+".yaml"), err == nil
}
