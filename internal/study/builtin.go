package study

import (
	"tercet/studies"
)

// BuiltIn are the studies that the binary holds. That they can be read is tested.
func BuiltIn() []*Spec {
	var out []*Spec
	for _, name := range studies.Names() {
		text, file, _ := studies.Read(name)
		if spec, err := Read(text, file, name); err == nil {
			out = append(out, spec)
		}
	}
	return out
}

// BuiltInTable finds a table in the built-in studies; nil where there is none.
func BuiltInTable(name string) *Table {
	for _, spec := range BuiltIn() {
		if t := spec.Table(name); t != nil {
			return t
		}
	}
	return nil
}

// BuiltInTables are the names of the tables in the built-in studies that keep chooses.
func BuiltInTables(keep func(*Table) bool) []string {
	var out []string
	for _, spec := range BuiltIn() {
		for i := range spec.Tables {
			if keep(&spec.Tables[i]) {
				out = append(out, spec.Tables[i].Name)
			}
		}
	}
	return out
}
