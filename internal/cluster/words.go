package cluster

import "fmt"

// counted is a number with its noun: 1 row, 2 rows.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// emptyClusters says how many of k clusters have no rows.
func emptyClusters(empty, k int) string {
	if empty == 1 {
		return fmt.Sprintf("1 of the %d clusters is empty", k)
	}
	return fmt.Sprintf("%d of the %d clusters are empty", empty, k)
}
