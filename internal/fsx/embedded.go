package fsx

import (
	"embed"
	"path"
	"strings"
)

// Embedded is descriptions that the binary holds, YAML files of one folder of the sources.
type Embedded struct {
	Files  embed.FS
	Folder string // in the sources
}

// Names lists the descriptions in alphabetical order, without their ending.
func (e Embedded) Names() []string {
	entries, _ := e.Files.ReadDir(".") // what is embedded is there
	var out []string
	for _, f := range entries {
		out = append(out, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return out
}

// Read returns a description and the path that it has in the sources; ok is false where
// there is none of that name.
func (e Embedded) Read(name string) (text []byte, file string, ok bool) {
	if strings.ContainsAny(name, `/\`) {
		return nil, "", false
	}
	text, err := e.Files.ReadFile(name + ".yaml")
	return text, path.Join(e.Folder, name+".yaml"), err == nil
}
