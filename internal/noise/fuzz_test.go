package noise

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// What is read as a confusion matrix is square and has rows of probabilities that
// add up to 1; an error names the file.
func FuzzReadConfusion(f *testing.F) {
	for _, s := range []string{"1\n", "0.9,0.1\n0.2,0.8\n", "# a\n1, 0\n0 ,1", "1,0\n1\n", "\"0.5\",0.5\n0,1\n", "NaN,1\n0,1\n", "1e-400,1\n-0,1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readConfusion(bytes.NewReader(b), "matrix.csv", 1+bytes.Count(bytes.TrimSpace(b), []byte("\n")))
		if err != nil {
			if !strings.Contains(err.Error(), "matrix.csv") {
				t.Fatalf("%v does not name the file", err)
			}
			return
		}
		for i, row := range m {
			sum := 0.0
			for _, v := range row {
				if !(v >= 0 && v <= 1) {
					t.Fatalf("row %d has %v", i, v)
				}
				sum += v
			}
			if len(row) != len(m) || math.Abs(sum-1) > 1e-3 {
				t.Fatalf("row %d of %d has %d numbers with sum %v", i, len(m), len(row), sum)
			}
		}
	})
}
