package generalize

import (
	"cmp"
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/wire"
)

// What takes the place of a training image. It takes its label too, so that batches and
// tuples are of the same indices as before.
const (
	// ReplaceFresh is a held-out image of the same class, which training never saw.
	ReplaceFresh = "fresh"
	// ReplaceFar is the adversary: of the class whose mean embedding is farthest from
	// that of the image's own, the held-out image nearest to the mean, under the own
	// class's label.
	ReplaceFar = "far"
	// ReplaceTwin is another training image of its class, which is then there twice:
	// where the test classes are others than those of training.
	ReplaceTwin = "twin"
	// ReplaceUlp is the control: no image is replaced, and one weight that is not 0 begins
	// at the next float32. What it changes is the chaos of training, no image's influence.
	ReplaceUlp = "one-ulp"
)

// ImageReplacements lists what can take the place of a training image.
func ImageReplacements() []string { return []string{ReplaceFresh, ReplaceFar, ReplaceTwin} }

// Replacements lists what stability can change: images, and the control.
func Replacements() []string { return append(ImageReplacements(), ReplaceUlp) }

// replacementWords are what users write for a kind of replacement and read in tables;
// documents have the kind.
var replacementWords = map[string]string{ReplaceFresh: "held-out", ReplaceFar: "farthest-class", ReplaceTwin: "duplicate", ReplaceTriple: "triplet"}

// ReplacementWord names a kind of replacement for users.
func ReplacementWord(kind string) string { return cmp.Or(replacementWords[kind], kind) }

// ReplacementOf is the kind of replacement that a user names; another word stays.
func ReplacementOf(word string) string {
	for kind, w := range replacementWords {
		if w == word {
			return kind
		}
	}
	return word
}

// replacementName is that of the replacement's folder.
func replacementName(p record.Replacement) string {
	if p.Kind == ReplaceUlp {
		return fmt.Sprintf("%s-%d", p.Kind, p.By)
	}
	return fmt.Sprintf("%s-%d-by-%s-%d", p.Kind, p.Image, p.Of, p.By)
}

// alterImage puts what replaces the image in its place. pool is the set that By is an item
// of, nil for the training set.
func alterImage(p record.Replacement, pool data.Dataset) wire.Alteration {
	return func(s *wire.Sets) error {
		if p.Kind == ReplaceUlp {
			s.Begin = func(m *nn.Model) { nextFloat(m, p.By) }
			return nil
		}
		var err error
		s.Train, err = replaced(s.Train, []int{p.Image}, pool, []int{p.By})
		return err
	}
}

// replaced returns train with items by of pool, or of itself where pool is nil, in the
// places of items, under their labels.
func replaced(train data.Dataset, items []int, pool data.Dataset, by []int) (data.Dataset, error) {
	idx := make([]int, train.Len())
	for k := range idx {
		idx[k] = k
	}
	all, first := train, 0
	if pool != nil {
		var err error
		if all, err = data.Concat(train, pool); err != nil {
			return nil, err
		}
		first = train.Len()
	}
	for k, i := range items {
		idx[i] = first + by[k]
	}
	out, err := data.Subset(all, idx)
	if err != nil {
		return nil, err
	}
	return data.Relabel(out, train.Labels(), train.Classes())
}

// poolShare of a class's held-out images, but at most poolMost of them, are kept to
// replace training images. The others are the probe. The split depends on the seed alone, so
// that more replacements are evaluated on the same images.
const (
	poolShare = 10
	poolMost  = 100
)

// partPool splits ds into items that may replace training images and those of the probe.
func partPool(ds data.Dataset, seed uint64) (pool, probe []int) {
	for y, items := range itemsByClass(ds) {
		n := min(max(len(items)/poolShare, 1), poolMost)
		if len(items) == 2 { // with one less there were no positive
			n = 0
		}
		items = rng.Shuffled(items, rng.New(seed, "stability/pool", uint64(y)))
		pool, probe = append(pool, items[:min(n, len(items))]...), append(probe, items[min(n, len(items)):]...)
	}
	slices.Sort(pool)
	slices.Sort(probe)
	return pool, probe
}

// itemsByClass lists the items of each class.
func itemsByClass(ds data.Dataset) [][]int {
	out := make([][]int, len(ds.Classes()))
	for i, y := range ds.Labels() {
		out[y] = append(out[y], i)
	}
	return out
}
