package record

import (
	"cmp"
	"fmt"

	"tercet/internal/names"
)

// Source says what a result was computed from.
type Source struct {
	Run         string `json:"run,omitempty" doc:"run directory"`
	Config      string `json:"config_hash,omitempty" doc:"hash of the run's config"`
	Checkpoint  string `json:"checkpoint,omitempty" doc:"'last' or 'best'"`
	Step        int    `json:"step,omitempty" doc:"step of the checkpoint"`
	Embeddings  string `json:"embeddings,omitempty" doc:"npy file of embeddings, if there is no run"`
	Graph       string `json:"graph,omitempty" doc:"MULTICUT text file, if there are no vectors"`
	Labels      string `json:"labels,omitempty" doc:"file of labels"`
	Queries     string `json:"queries,omitempty" doc:"file of query embeddings, if queries are not the embeddings themselves"`
	QueryLabels string `json:"query_labels,omitempty" doc:"file of their labels"`
	Neighbors   string `json:"neighbors,omitempty" doc:"file of neighbor lists from another program, if these were evaluated"`
	Set         string `json:"set,omitempty" doc:"split: 'test', 'validation' or 'train'"`
	Items       int    `json:"items" doc:"number of items"`
	Whole       int    `json:"set_items,omitempty" doc:"size of the split, if only some of its items were used"`
	Classes     int    `json:"classes,omitempty" doc:"number of classes"`
	Dim         int    `json:"dim" doc:"dimension of the vectors"`
	Fingerprint string `json:"fingerprint" doc:"SHA-256 of images and labels"`
}

// Of names what a result was computed from.
func (s Source) Of() string {
	return cmp.Or(s.Run, s.Embeddings, s.Graph, "a source that it does not name")
}

// Unsaid lists the keys by which a result of a run says of which weights and images it is
// and that s has not. All versions have written them: a result without them was changed.
func (s Source) Unsaid() []string {
	var out []string
	for _, k := range []struct{ key, value string }{{"checkpoint", s.Checkpoint}, {"set", s.Set}} {
		if k.value == "" {
			out = append(out, "source."+k.key)
		}
	}
	return out
}

// files is Of with the labels and the queries.
func (s Source) files() string {
	out := s.Of() + " without labels"
	if s.Labels != "" {
		out = s.Of() + " with " + s.Labels
	}
	if s.Queries != "" {
		out += fmt.Sprintf(", queries %s with %s", s.Queries, cmp.Or(s.QueryLabels, "no labels"))
	}
	if s.Neighbors != "" {
		out += ", lists " + s.Neighbors
	}
	return out
}

// File is the name of the document of a kind that is of s.
func (s Source) File(kind string) string { return names.Result(kind, s.Set, s.Checkpoint) + ".json" }
