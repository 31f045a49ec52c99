package metric

import (
	"context"
	"fmt"

	"tercet/internal/record"
)

// Means fills in scores from per-query values (n, len(s)), row-major: the mean
// of each column and its 95 % interval over queries. It is for scores that
// other packages compute query by query, such as those of attacks.
func Means(ctx context.Context, s record.Scores, values []float64, o Intervals) (record.Scores, error) {
	m := len(s)
	if m == 0 || len(values) == 0 || len(values)%m != 0 {
		return nil, fmt.Errorf("means: %d values for %d scores", len(values), m)
	}
	n := len(values) / m
	for i := range s {
		sum := 0.0
		for q := range n {
			sum += values[q*m+i]
		}
		s[i].Value.Value = sum / float64(n)
	}
	return s, o.add(ctx, s, values, nil)
}
