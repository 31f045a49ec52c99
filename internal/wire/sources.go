package wire

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"tercet/internal/config"
	"tercet/internal/data"
)

// Sources opens what the runs of a sweep read, and keeps it for those that are
// still to come. Datasets are read-only: runs that are trained at once share them.
type Sources struct {
	Keys  []string // of each variant: what it reads; empty where that is not sound
	limit int      // so many are open at a time

	mu   sync.Mutex
	left map[string][]int   // variants that have not ended, by key, in order
	Sets map[string]*source // those that are open
}

// source is one opened source.
type source struct {
	once        sync.Once
	train, test data.Dataset
	err         error
	users       map[int]bool // variants in training that read it
}

// NewSources returns the sources of variants of which so many are trained at once.
func NewSources(variants []*config.Config, jobs int) *Sources {
	s := &Sources{Keys: make([]string, len(variants)), limit: jobs, left: map[string][]int{}, Sets: map[string]*source{}}
	for i, cfg := range variants {
		text, err := json.Marshal(DataOptions(cfg))
		if err != nil {
			continue
		}
		s.Keys[i] = string(text)
		s.left[s.Keys[i]] = append(s.left[s.Keys[i]], i)
	}
	return s
}

// Opener returns what variant i opens its source with.
func (s *Sources) Opener(i int) Opener {
	key := s.Keys[i]
	if key == "" {
		return data.Open
	}
	return func(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
		set := s.use(i, key)
		set.once.Do(func() { set.train, set.test, set.err = data.Open(ctx, o) })
		return set.train, set.test, set.err
	}
}

// use marks the source as one that variant i reads.
func (s *Sources) use(i int, key string) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.Sets[key]
	if set == nil {
		s.makeRoom()
		set = &source{users: map[int]bool{}}
		s.Sets[key] = set
	}
	set.users[i] = true
	return set
}

// makeRoom drops sources that nobody reads at the moment until one more may be
// opened, first that which is needed last.
func (s *Sources) makeRoom() {
	for len(s.Sets) >= s.limit {
		last, at := "", -1
		for key, set := range s.Sets {
			if len(set.users) == 0 && s.left[key][0] > at {
				last, at = key, s.left[key][0]
			}
		}
		if at < 0 {
			return
		}
		delete(s.Sets, last)
	}
}

// Release says that variant i has ended, whether it opened its source or not. What
// no later run reads is dropped, and what could not be read.
func (s *Sources) Release(i int) {
	key := s.Keys[i]
	if key == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[key] = slices.DeleteFunc(s.left[key], func(k int) bool { return k == i })
	set := s.Sets[key]
	if set == nil {
		return
	}
	delete(set.users, i)
	if len(s.left[key]) == 0 || len(set.users) == 0 && set.err != nil {
		delete(s.Sets, key)
	}
}
