package experiment

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tercet/internal/config"
)

// Variants returns the configs that cfg's sweep stands for, in the order of the
// file; a config without a sweep is its own only variant.
func Variants(cfg *config.Config) ([]*config.Config, error) {
	list, err := cfg.Sweep()
	if err != nil {
		return nil, err
	}
	out := make([]*config.Config, len(list))
	for i, v := range list {
		if out[i], err = cfg.Variant(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Task selects share i of n, as "i/n" with i from 1: every n-th variant. "" is
// all of them.
func Task(variants []*config.Config, task string) ([]*config.Config, error) {
	if task == "" {
		return variants, nil
	}
	a, b, ok := strings.Cut(task, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || i < 1 || i > n {
		return nil, fmt.Errorf("task %q is not i/n with i from 1 to n; with an index that counts from 0, add 1", task)
	}
	var out []*config.Config
	for k := i - 1; k < len(variants); k += n {
		out = append(out, variants[k])
	}
	return out, nil
}

// Sweep trains the variants in turn under root and goes on after one that
// collapsed or diverged: that is a result, too. each is told how each ended; an
// error of another kind, or from each, ends the sweep.
func Sweep(ctx context.Context, root string, variants []*config.Config, w Watch, each func(i int, r *Run, done bool, err error) error) error {
	for i, cfg := range variants {
		r, err := Create(root, cfg)
		if err != nil {
			return err
		}
		done, err := r.Train(ctx, w)
		r.Close()
		if err := each(i, r, done, err); err != nil {
			return err
		}
	}
	return nil
}
