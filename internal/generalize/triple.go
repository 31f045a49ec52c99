package generalize

import (
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rng"
	"tercet/internal/wire"
)

// ReplaceTriple replaces three training images at once, a triplet, by held-out images of
// their classes: the on-average stability of Definition 2.
const ReplaceTriple = "triple"

// tripleName is that of the replacement's folder.
func tripleName(p record.ReplacedTriple) string {
	return fmt.Sprintf("triple-%d-%d-%d-by-%s-%d-%d-%d", p.Images[0], p.Images[1], p.Images[2], p.Of, p.By[0], p.By[1], p.By[2])
}

// alterTriple puts what replaces the images in their places.
func alterTriple(p record.ReplacedTriple, held data.Dataset) wire.Alteration {
	return func(s *wire.Sets) error {
		var err error
		s.Train, err = replaced(s.Train, p.Images[:], held, p.By[:])
		return err
	}
}

// triples are the triplets of training images to replace: those that are given, three
// images each, or n that are drawn as those of a gap are. They depend on the seed, what
// takes their places on it and the images.
func (s *study) triples(given []int, n int) ([]record.ReplacedTriple, error) {
	train, fresh := s.sets.Train, map[string][]int{}
	for i, y := range s.held.Labels() {
		name := s.held.Classes()[y]
		fresh[name] = append(fresh[name], i)
	}
	var images [][3]int
	var err error
	if len(given) > 0 {
		images, err = givenTriples(train, given)
	} else if images, err = drawnTriples(train.Labels(), n, s.o.Seed); err == nil {
		err = s.replaceable(fresh)
	}
	if err != nil {
		return nil, err
	}
	out := make([]record.ReplacedTriple, len(images))
	for k, t := range images {
		p := record.ReplacedTriple{Images: t, Of: s.o.Set}
		for x, i := range t {
			p.Class[x] = train.Classes()[train.Labels()[i]]
		}
		own, other := fresh[p.Class[0]], fresh[p.Class[2]]
		if len(own) < 2 {
			return nil, s.tooFew(p.Class[0], len(own), 2)
		}
		if len(other) < 1 {
			return nil, s.tooFew(p.Class[2], 0, 1)
		}
		r := rng.New(s.o.Seed, "stability/triple fresh", uint64(t[0]), uint64(t[1]), uint64(t[2]))
		a, b := r.IntN(len(own)), r.IntN(len(own)-1)
		if b >= a { // another one
			b++
		}
		p.By = [3]int{own[a], own[b], other[r.IntN(len(other))]}
		out[k] = p
	}
	return out, nil
}

// drawnTriples draws triplets of training images; more of them begin with the same.
func drawnTriples(labels []int32, n int, seed uint64) ([][3]int, error) {
	list, err := drawTriplets(labels, n, "training", rng.New(seed, "stability/triples"))
	out := make([][3]int, len(list))
	for k, t := range list {
		out[k] = [3]int{int(t.A), int(t.P), int(t.N)}
	}
	return out, err
}

// givenTriples checks triplets that a user names.
func givenTriples(train data.Dataset, given []int) ([][3]int, error) {
	if len(given)%3 != 0 {
		return nil, fmt.Errorf("%w: %d training images are not triplets: give three for each, anchor, positive and negative", data.ErrUnfit, len(given))
	}
	labels, classes := train.Labels(), train.Classes()
	var out [][3]int
	for t := range slices.Chunk(given, 3) {
		for _, i := range t {
			if i < 0 || i >= train.Len() {
				return nil, fmt.Errorf("%w: training image %d does not exist; valid: 0 to %d", data.ErrUnfit, i, train.Len()-1)
			}
		}
		i, j, k := t[0], t[1], t[2]
		a, p, n := classes[labels[i]], classes[labels[j]], classes[labels[k]]
		switch {
		case i == j:
			return nil, fmt.Errorf("%w: training images %d, %d and %d are not a triplet: anchor and positive are the same image", data.ErrUnfit, i, j, k)
		case a != p:
			return nil, fmt.Errorf("%w: training images %d, %d and %d are not a triplet: anchor and positive are of classes %s and %s", data.ErrUnfit, i, j, k, a, p)
		case a == n:
			return nil, fmt.Errorf("%w: training images %d, %d and %d are not a triplet: the negative is of the anchor's class, %s", data.ErrUnfit, i, j, k, a)
		}
		if slices.Contains(out, [3]int{i, j, k}) {
			return nil, fmt.Errorf("%w: the triplet of training images %d, %d and %d is given twice, and would count as two; give each once", data.ErrUnfit, i, j, k)
		}
		out = append(out, [3]int{i, j, k})
	}
	return out, nil
}

// replaceable refuses sets of which not every triplet can be replaced: without some of
// them the mean would be another one.
func (s *study) replaceable(fresh map[string][]int) error {
	for y, items := range itemsByClass(s.sets.Train) {
		name := s.sets.Train.Classes()[y]
		if want := min(2, len(items)); len(fresh[name]) < want {
			return s.tooFew(name, len(fresh[name]), want)
		}
	}
	return nil
}

// tooFew says that a class has too few fresh images.
func (s *study) tooFew(class string, have, want int) error {
	advice := "name triplets of other classes by " + option.Name("images") + " I,J,K"
	if wire.Disjoint(s.sets.Train, s.held) {
		advice = fmt.Sprintf("no %s image is of a training class; a run whose data are split by images (data.split.kind fraction) has some", s.o.Set)
	}
	return fmt.Errorf("%w: a triplet is replaced by held-out images of its classes, and of class %s there are %d %s images, and it needs %d: %s", data.ErrUnfit, class, have, s.o.Set, want, advice)
}
