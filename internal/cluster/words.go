package cluster

import "fmt"

// emptyClusters says how many of k clusters have no rows.
func emptyClusters(empty, k int) string {
	if empty == 1 {
		return fmt.Sprintf("1 of the %d clusters is empty", k)
	}
	return fmt.Sprintf("%d of the %d clusters are empty", empty, k)
}
