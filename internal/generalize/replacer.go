package generalize

import (
	"fmt"
	"slices"

	"tercet/internal/data"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rng"
)

// replacer finds what replaces training images.
type replacer struct {
	train, held data.Dataset // held: the set whose pool it takes from
	set         string       // its name
	pool        []int
	seed        uint64

	members [][]int          // items of each training class
	byClass map[string][]int // of the pool, by name
	taken   map[int]bool     // fresh ones
	means   *classMeans      // for ReplaceFar
}

func newReplacer(train, held data.Dataset, set string, pool []int, seed uint64) *replacer {
	r := &replacer{train: train, held: held, set: set, pool: pool, seed: seed, members: itemsByClass(train), byClass: map[string][]int{}, taken: map[int]bool{}}
	for _, i := range pool {
		name := held.Classes()[held.Labels()[i]]
		r.byClass[name] = append(r.byClass[name], i)
	}
	return r
}

func (r *replacer) class(i int) string { return r.train.Classes()[r.train.Labels()[i]] }

// can says why training image i cannot be replaced by that kind; nil where it can.
func (r *replacer) can(i int, kind string) error {
	class := r.class(i)
	switch kind {
	case ReplaceFresh:
		if len(r.byClass[class]) == 0 {
			return fmt.Errorf("%w: no %s image of class %s can take the place of training image %d; %s %s takes another training image of the class", data.ErrUnfit, r.set, class, i, option.Name("replace"), ReplacementWord(ReplaceTwin))
		}
	case ReplaceTwin:
		if len(r.members[r.train.Labels()[i]]) < 2 {
			return fmt.Errorf("%w: training image %d is the only one of class %s: there is no other to take its place", data.ErrUnfit, i, class)
		}
	case ReplaceFar:
		if len(r.byClass) == 0 || len(r.byClass) == 1 && len(r.byClass[class]) > 0 {
			return fmt.Errorf("%w: the %s images have no class but that of training image %d to take an adversary from", data.ErrUnfit, r.set, i)
		}
	}
	return nil
}

// choose returns the training images to replace: those that are given, or n drawn among
// those of from, nil for all, that each kind can replace.
func (r *replacer) choose(given []int, n int, kinds []string, from []int) ([]int, error) {
	for _, i := range given {
		if i < 0 || i >= r.train.Len() {
			return nil, fmt.Errorf("%w: training image %d does not exist; valid: 0 to %d", data.ErrUnfit, i, r.train.Len()-1)
		}
		for _, kind := range kinds {
			if err := r.can(i, kind); err != nil {
				return nil, err
			}
		}
	}
	if len(given) > 0 {
		return given, nil
	}
	if from == nil {
		for i := range r.train.Len() {
			from = append(from, i)
		}
	}
	if n > len(from) {
		return nil, option.Errorf("%d replacements of a training image are requested, and only %d images are available; request fewer", n, len(from))
	}
	var out []int
	var why error
	for _, i := range rng.Shuffled(from, rng.New(r.seed, "stability/images")) {
		if len(out) == n {
			break
		}
		fits := true
		for _, kind := range kinds {
			if err := r.can(i, kind); err != nil {
				fits, why = false, err
			}
		}
		if fits {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, why
	}
	return out, nil
}

// replace says what takes the place of training image i.
func (r *replacer) replace(i int, kind string) (record.Replacement, error) {
	p := record.Replacement{Image: i, Kind: kind, Of: r.set, Class: r.class(i)}
	if err := r.can(i, kind); err != nil {
		return p, err
	}
	from := r.held
	switch s := rng.New(r.seed, "stability/"+kind, uint64(i)); kind {
	case ReplaceFresh:
		own := r.byClass[p.Class]
		at := s.IntN(len(own))
		for k := range own { // one that is not used yet, where there is one
			if by := own[(at+k)%len(own)]; !r.taken[by] {
				at = (at + k) % len(own)
				break
			}
		}
		p.By = own[at]
		r.taken[p.By] = true
	case ReplaceTwin:
		own := slices.DeleteFunc(slices.Clone(r.members[r.train.Labels()[i]]), func(k int) bool { return k == i })
		p.By, p.Of, from = own[s.IntN(len(own))], "train", r.train
	case ReplaceFar:
		p.By = r.means.far(p.Class)
	default:
		return p, fmt.Errorf("unknown replacement %q", kind)
	}
	p.Other = from.Classes()[from.Labels()[p.By]]
	return p, nil
}

// pooled returns the dataset that p.By is an item of, nil for the training set.
func (r *replacer) pooled(p record.Replacement) data.Dataset {
	if p.Of == "train" {
		return nil
	}
	return r.held
}
