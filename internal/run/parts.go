package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/fsx"
	"tercet/internal/option"
	"tercet/internal/scheduler"
	"tercet/internal/text"
)

// PartPath is where task i of n keeps its part of the result in out.
func PartPath(out string, t scheduler.Task) string {
	return fmt.Sprintf("%s.part-%d-of-%d", out, t.Index, t.Of)
}

// Parts finds how many tasks the parts of the result in out are of. Errors name those that
// are missing, and parts of several numbers of tasks.
func Parts(out string) (int, error) {
	list, err := filepath.Glob(fsx.QuoteGlob(out) + ".part-*-of-*")
	if err != nil {
		return 0, err
	}
	there := map[int][]int{}
	for _, path := range list {
		index, of, _ := strings.Cut(strings.TrimPrefix(path, out+".part-"), "-of-")
		i, errI := strconv.Atoi(index)
		n, errN := strconv.Atoi(of)
		if errI == nil && errN == nil && i >= 1 && i <= n {
			there[n] = append(there[n], i)
		}
	}
	var sizes []string
	most := 0
	for n := range there {
		sizes = append(sizes, strconv.Itoa(n))
		most = n
	}
	switch slices.Sort(sizes); {
	case len(sizes) == 0:
		return 0, fault.Missing(nil, "no task results to merge: %s", out+".part-1-of-N does not exist")
	case len(sizes) > 1:
		return 0, option.Errorf("%s has parts of %s tasks; keep those of one division and remove the others", out, text.List(sizes, "and of"))
	}
	var missing []string
	for i := 1; i <= most; i++ {
		if !slices.Contains(there[most], i) {
			missing = append(missing, fmt.Sprintf("%d/%d", i, most))
		}
	}
	if len(missing) > 0 {
		return 0, fault.Missing(nil, "%s lacks the parts of %s: run %s", out, text.Plural(len(missing), "task", "tasks"), text.List(missing, "and"))
	}
	return most, nil
}
