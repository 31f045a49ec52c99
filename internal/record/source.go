package record

import (
	"cmp"

	"tercet/internal/names"
)

// Source says what a result was computed from.
type Source struct {
	Run         string `json:"run,omitempty"`         // run directory
	Config      string `json:"config_hash,omitempty"` // of the run, as its manifest has it
	Checkpoint  string `json:"checkpoint,omitempty"`  // "last" or "best"
	Step        int    `json:"step,omitempty"`        // of the checkpoint
	Embeddings  string `json:"embeddings,omitempty"`  // npy file, where there is no run
	Graph       string `json:"graph,omitempty"`       // MULTICUT text file, where there are no points
	Labels      string `json:"labels,omitempty"`
	Set         string `json:"set,omitempty"` // test, validation or train
	Items       int    `json:"items"`
	Whole       int    `json:"set_items,omitempty"` // of the set, where Items is a part of it
	Classes     int    `json:"classes,omitempty"`
	Dim         int    `json:"dim"`
	Fingerprint string `json:"fingerprint"`
}

// Of names what a result was computed from.
func (s Source) Of() string { return cmp.Or(s.Run, s.Embeddings, s.Graph) }

// files is Of with the labels.
func (s Source) files() string {
	if s.Labels == "" {
		return s.Of() + " without labels"
	}
	return s.Of() + " with " + s.Labels
}

// File is the name of the document of a kind that is of s.
func (s Source) File(kind string) string { return names.Result(kind, s.Set, s.Checkpoint) + ".json" }
