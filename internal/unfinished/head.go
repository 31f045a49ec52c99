package unfinished

import "fmt"

// Head is the first line of a file, in JSON: what the work is of. Files whose heads differ in
// Task alone are shares of one result.
type Head struct {
	Schema string `json:"schema"`
	Chunks int    `json:"chunks"` // parts of the work
	Task   int    `json:"task"`   // from 1
	Of     int    `json:"of"`
	Facts  []Fact `json:"facts"` // what else must be the same for the work to continue
}

// Fact is one thing that the work depends on, such as the kernel level.
type Fact struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// FactOf is a fact with the words of any value.
func FactOf(what string, value any) Fact { return Fact{what, fmt.Sprint(value)} }

// unlike says in what two heads differ, "" where in nothing.
func (h *Head) unlike(o *Head) string {
	a, b := h.all(), o.all()
	for i, f := range b {
		there := Fact{What: f.What}
		if i < len(a) && a[i].What == f.What {
			there = a[i]
		}
		if there != f {
			return fmt.Sprintf("%s: %s there, %s here", f.What, there.Value, f.Value)
		}
	}
	if len(a) != len(b) {
		return "facts that this version does not know"
	}
	return ""
}

func (h *Head) all() []Fact {
	return append([]Fact{{"format", h.Schema}, FactOf("parts", h.Chunks), FactOf("task", h.Task), FactOf("tasks", h.Of)}, h.Facts...)
}
