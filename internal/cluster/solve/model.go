package solve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"tercet/internal/data"
	"tercet/internal/engine/kernel"
	"tercet/internal/option"
	"tercet/internal/par"
	"tercet/internal/record"
	"tercet/internal/safetensors"
)

// ModelFile is what new items are assigned by, beside cluster.json.
const ModelFile = "clusters.safetensors"

// Model is a clustering as far as new items are concerned. Of a multicut whose
// costs are s (tau^2 - d^2), cutting a new item y from all n items of a cluster costs
//
//	s n (tau^2 - |y-c|^2 - q),
//
// c being their mean and q their mean squared distance from it: the sums of the items
// and of their squares in other words, in which float32 keeps its digits. Of k-means
// the means alone count.
type Model struct {
	Method     string
	Spherical  bool // k-means by direction
	Tau        float64
	Count, Dim int
	Center     []float32 // (k, d)
	spread     []float32 // (k) mean squared distance to the center
	size       []float32 // (k), exact up to 2^24
	Source     record.Source
}

// newModel measures the clusters of v about their means.
func newModel(v data.Embeddings, labels []int32, sizes []int) *Model {
	m := &Model{Count: len(sizes), Dim: v.D, Center: make([]float32, len(sizes)*v.D)}
	sum := make([]float64, len(m.Center))
	for i, l := range labels {
		kernel.AddRow(sum[int(l)*v.D:][:v.D], v.X[i*v.D:][:v.D])
	}
	for k, n := range sizes {
		for a := range v.D {
			m.Center[k*v.D+a] = float32(sum[k*v.D+a] / float64(n))
		}
	}
	m.measure(v, labels, sizes)
	return m
}

// measure sets size and spread from the items about the centers, and returns the sum
// of their squared distances.
func (m *Model) measure(v data.Embeddings, labels []int32, sizes []int) (total float64) {
	spread := make([]float64, m.Count)
	for i, l := range labels {
		spread[l] += kernel.SquaredDistance(v.X[i*v.D:][:v.D], m.row(int(l)))
	}
	m.spread, m.size = make([]float32, m.Count), make([]float32, m.Count)
	for k, n := range sizes {
		m.size[k], m.spread[k] = float32(n), float32(spread[k]/float64(n))
		total += spread[k]
	}
	return total
}

func (m *Model) row(k int) []float32 { return m.Center[k*m.Dim : (k+1)*m.Dim] }

// Assign returns the cluster of each row of x, -1 for one of its own. A row joins the
// cluster from which cutting it off costs most, the lower of equals, if that is above
// 0, as a multicut.Assigner has it, which needs the graph. K-means knows no rows that
// stay alone.
func (m *Model) Assign(ctx context.Context, x []float32, n int) ([]int32, error) {
	labels := make([]int32, n)
	par.For(n, 16, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		for i := lo; i < hi; i++ {
			labels[i] = m.nearest(x[i*m.Dim : (i+1)*m.Dim])
		}
	})
	return labels, ctx.Err()
}

func (m *Model) nearest(y []float32) int32 {
	best, most := int32(-1), math.Inf(-1)
	for k := range m.Count {
		gain := -kernel.SquaredDistance(y, m.row(k))
		if m.Method == Multicut {
			gain = float64(m.size[k]) * (float64(m.Tau*m.Tau) + gain - float64(m.spread[k]))
			if gain <= 0 {
				continue
			}
		}
		if gain > most {
			best, most = int32(k), gain
		}
	}
	return best
}

// OnSphere gives rows length 1.
func OnSphere(x []float32, d int) ([]float32, error) {
	out := make([]float32, len(x))
	for i := 0; i < len(x); i += d {
		norm := math.Sqrt(kernel.SumSquares(x[i : i+d]))
		if norm == 0 {
			return nil, fmt.Errorf("%w: row %d is zero and has no direction", data.ErrUnfit, i/d)
		}
		for a, v := range x[i : i+d] {
			out[i+a] = float32(float64(v) / norm)
		}
	}
	return out, nil
}

// write writes the model as safetensors.
func (m *Model) write(w io.Writer) error {
	source, err := json.Marshal(m.Source)
	if err != nil {
		return err
	}
	meta := map[string]string{"format": record.ClustersFormat, "method": m.Method, "source": string(source)}
	if m.Method == Multicut {
		meta["threshold"] = strconv.FormatFloat(m.Tau, 'g', -1, 64)
	}
	if m.Spherical {
		meta["spherical"] = "true"
	}
	return safetensors.WriteSealed(w, &safetensors.File{Meta: meta, Tensors: []safetensors.Tensor{
		{Name: "center", Shape: []int{m.Count, m.Dim}, Data: m.Center},
		{Name: "spread", Shape: []int{m.Count}, Data: m.spread},
		{Name: "size", Shape: []int{m.Count}, Data: m.size},
	}})
}

// ReadModel reads the model at path: the file, or the folder or cluster.json that it
// lies beside.
func ReadModel(path string) (*Model, string, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, "", fmt.Errorf("%w: %w", data.ErrMissing, err)
	case info.IsDir():
		path = filepath.Join(path, ModelFile)
	case filepath.Ext(path) == ".json":
		path = filepath.Join(filepath.Dir(path), ModelFile)
	}
	f, err := safetensors.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, "", fmt.Errorf("%w: %s not found: tercet cluster %s writes it for k-means, and for multicut on all pairs with %s squared and no %s; other clusterings have no rule for new items", data.ErrMissing, path, option.Name("out-dir"), option.Name("link"), option.Name("clip"))
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", data.ErrFormat, err)
	}
	m, err := parseModel(f)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s: %w", data.ErrFormat, path, err)
	}
	return m, path, nil
}

func parseModel(f *safetensors.File) (*Model, error) {
	if got := f.Meta["format"]; got != record.ClustersFormat {
		return nil, fmt.Errorf("format %q; this version reads %s", got, record.ClustersFormat)
	}
	var err error
	m := &Model{Method: f.Meta["method"], Spherical: f.Meta["spherical"] == "true"}
	switch m.Method {
	case KMeans:
	case Multicut:
		if m.Tau, err = strconv.ParseFloat(f.Meta["threshold"], 64); err != nil || !(m.Tau > 0) || math.IsInf(m.Tau, 1) {
			return nil, fmt.Errorf("threshold %q is not a distance", f.Meta["threshold"])
		}
	default:
		return nil, fmt.Errorf("method %q has no rule for new items", m.Method)
	}
	if err := json.Unmarshal([]byte(f.Meta["source"]), &m.Source); err != nil {
		return nil, fmt.Errorf("metadata source: %w", err)
	}
	center := f.Find("center")
	if center == nil || len(center.Shape) != 2 || center.Shape[0] < 1 || center.Shape[1] < 1 {
		return nil, errors.New("no tensor center (clusters, dimensions)")
	}
	m.Count, m.Dim, m.Center = center.Shape[0], center.Shape[1], center.Data
	for _, t := range []struct {
		name  string
		to    *[]float32
		least float32
	}{{"spread", &m.spread, 0}, {"size", &m.size, 1}} {
		s := f.Find(t.name)
		if s == nil || len(s.Data) != m.Count {
			return nil, fmt.Errorf("no tensor %s of %d clusters", t.name, m.Count)
		}
		for k, v := range s.Data {
			if !(v >= t.least) || math.IsInf(float64(v), 1) {
				return nil, fmt.Errorf("tensor %s: cluster %d has %v", t.name, k, v)
			}
		}
		*t.to = s.Data
	}
	if i, ok := kernel.AllFinite(m.Center); !ok {
		return nil, fmt.Errorf("tensor center: cluster %d, column %d is %v", i/m.Dim, i%m.Dim, m.Center[i])
	}
	return m, nil
}
