package solve

import (
	"testing"

	"tercet/internal/record"
	"tercet/internal/safetensors"
)

// A model of clusters of any metadata and numbers is read with finite centers, or
// refused.
func FuzzClusterModel(f *testing.F) {
	f.Add(KMeans, "{}", "", 2, []byte{1, 2})
	f.Add(Multicut, "{}", "0.5", 1, []byte{255})
	f.Add("agglomerative", "", "x", 0, []byte{})
	f.Fuzz(func(t *testing.T, method, source, threshold string, k int, values []byte) {
		if k < 0 || k > 1000 || len(values) > 1000 {
			return
		}
		numbers := make([]float32, len(values))
		for i, v := range values {
			numbers[i] = float32(v) - 1
		}
		file := &safetensors.File{Meta: map[string]string{"format": record.ClustersFormat, "method": method, "source": source, "threshold": threshold}, Tensors: []safetensors.Tensor{
			{Name: "center", Shape: []int{k, len(values)}, Data: make([]float32, k*len(values))},
			{Name: "spread", Shape: []int{len(values)}, Data: numbers},
			{Name: "size", Shape: []int{len(values)}, Data: numbers},
		}}
		m, err := parseModel(file)
		if err != nil {
			return
		}
		if m.Count < 1 || m.Dim < 1 || len(m.Center) != m.Count*m.Dim || len(m.spread) != m.Count || len(m.size) != m.Count {
			t.Fatalf("%d clusters of %d dimensions, %d numbers", m.Count, m.Dim, len(m.Center))
		}
		for i, n := range m.size {
			if n < 1 || m.spread[i] < 0 {
				t.Fatalf("cluster %d of %v items, spread %v", i, n, m.spread[i])
			}
		}
	})
}
