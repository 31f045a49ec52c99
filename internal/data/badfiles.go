package data

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"tercet/internal/data/fault"
	"tercet/internal/par"
)

// maxListed is how many bad files an error names.
const maxListed = 20

// eachFile calls f for 0 to n-1 on all threads. Unlike each it continues after an error,
// and returns one that lists all files that are bad, in their order: who has a thousand
// images mends them at once.
func eachFile(n, size int, f func(i int) error) error {
	var mu sync.Mutex
	bad := map[int]error{}
	par.For(n, size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if err := f(i); err != nil {
				mu.Lock()
				bad[i] = err
				mu.Unlock()
			}
		}
	})
	order := slices.Sorted(maps.Keys(bad))
	switch len(order) {
	case 0:
		return nil
	case 1:
		return bad[order[0]]
	}
	var list []string
	for _, i := range order[:min(len(order), maxListed)] {
		list = append(list, bad[i].Error())
	}
	if more := len(order) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	kind := ErrFormat
	if errors.Is(bad[order[0]], ErrMissing) {
		kind = ErrMissing
	}
	return fault.Of(kind, nil, "%d of %d images cannot be read: %s", len(order), n, strings.Join(list, "; "))
}
