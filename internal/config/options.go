package config

import "tercet/internal/component"

// ClassPairs draws pairs of images of one class. The sampler class-pairs lets
// classes repeat within a batch, as published; class-pairs-distinct does not.
type ClassPairs struct {
	Pairs int `yaml:"pairs" check:">=1,<=1000000" doc:"pairs in a batch: 2 x PAIRS images"`
}

// Check implements component.Checker.
func (o ClassPairs) Check() []component.Fault {
	if o.Pairs < 2 {
		return []component.Fault{component.Faultf("pairs", "must be at least 2, is %d: one pair has no negative", o.Pairs)}
	}
	return nil
}

// MPerClass draws classes, then images of each.
type MPerClass struct {
	Classes  int `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass int `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
}

// PairGraph gives a fixed list of pairs: the edges of a balanced pair graph (DIBS,
// section 3). No miner is asked.
type PairGraph struct {
	Scenario  string `yaml:"scenario" enum:"s2|s1|full" doc:"s2: all pairs of PAIRS/2 images, dense; s1: PAIRS of the pairs of all images, sparse; full: all pairs of all images, two for each"`
	Pairs     int    `yaml:"pairs" check:">=0,<=100000000" doc:"pairs in all, half of them similar by the labels that are trained on; not asked for by scenario full, which has two for each image"`
	Negatives string `yaml:"negatives" enum:"same-index|random" doc:"an image's different partner: of the same index in another class (text, Theorem 1), or any of it (Algorithm 1)"`
	Order     string `yaml:"order" enum:"shuffled|paper" doc:"chains join images in random order, or as they come, sorted by true class, which undoes most of the noise"`
	Redraw    bool   `yaml:"redraw" doc:"draw another graph for each epoch"`
	Size      int    `yaml:"size" check:">=1,<=1000000" doc:"pairs in a batch: 2 x SIZE images"`
}

// TripletList gives a fixed list of triplets drawn by the labels that are trained
// on. No miner is asked.
type TripletList struct {
	Triplets int  `yaml:"triplets" check:">=1,<=100000000" doc:"triplets in all"`
	Redraw   bool `yaml:"redraw" doc:"draw others for each epoch"`
	Size     int  `yaml:"size" check:">=1,<=1000000" doc:"triplets in a batch: 3 x SIZE images"`
}
