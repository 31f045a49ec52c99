package data

import "tercet/internal/component"

// Splits is the ways to split data that a config can name.
var Splits = component.NewFamily[SplitOptions]("file", "class", "fraction")

// SplitOptions are the keys of a split.
type SplitOptions interface {
	// Split returns the split; what is chosen is chosen by the seed.
	Split(seed uint64) Split
}

func init() {
	for _, c := range []component.Component[SplitOptions]{
		{Name: "file", Doc: "the train and test sets of the source", Defaults: FileSplit{}},
		{Name: "class", Doc: "train and test classes are disjoint: the score is of unseen classes", Defaults: ClassSplit{Train: 0.5}},
		{Name: "fraction", Doc: "a share of each class's images to train on: the score is of unseen images of the same classes", Defaults: FractionSplit{Train: 0.8}},
	} {
		Splits.Register(c)
	}
}

// FileSplit keeps the split that the source comes with.
type FileSplit struct{}

// Split implements SplitOptions.
func (FileSplit) Split(uint64) Split { return Split{} }

// ClassSplit trains on some classes and tests on the others.
type ClassSplit struct {
	Train float64 `yaml:"train" check:">0" doc:"classes to train on: a count, or a fraction below 1"`
}

// Check implements component.Checker.
func (s ClassSplit) Check() []component.Fault {
	if s.Train >= 1 && s.Train != float64(int(s.Train)) {
		return []component.Fault{component.Faultf("train", "is neither a fraction below 1 nor a whole number of classes: %s", component.Number(s.Train))}
	}
	return nil
}

// Split implements SplitOptions.
func (s ClassSplit) Split(seed uint64) Split { return Split{Kind: "class", Train: s.Train, Seed: seed} }

// FractionSplit trains on some images of each class and tests on the others.
type FractionSplit struct {
	Train float64 `yaml:"train" check:">0,<1" doc:"fraction of each class's images to train on"`
}

// Split implements SplitOptions.
func (s FractionSplit) Split(seed uint64) Split {
	return Split{Kind: "fraction", Train: s.Train, Seed: seed}
}
