package scheduler

import (
	"fmt"
	"strings"
)

// Ranges writes increasing indices as arrays of Slurm take them: 3,17,40-44.
func Ranges(indices []int) string {
	var parts []string
	for i := 0; i < len(indices); {
		end := i
		for end+1 < len(indices) && indices[end+1] == indices[end]+1 {
			end++
		}
		switch {
		case end == i:
			parts = append(parts, fmt.Sprint(indices[i]))
		case end == i+1:
			parts = append(parts, fmt.Sprint(indices[i]), fmt.Sprint(indices[end]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", indices[i], indices[end]))
		}
		i = end + 1
	}
	return strings.Join(parts, ",")
}
