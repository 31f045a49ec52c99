package train

import (
	"encoding/json"
	"fmt"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/rng"
	"tercet/internal/safetensors"
)

// Memory keeps the embeddings of the last images, which the loss compares those of a batch
// with (Wang et al., "Cross-Batch Memory for Embedding Learning", CVPR 2020). They are
// constants: the gradient is that of the batch. An image is never compared with an earlier
// embedding of itself.
type Memory struct {
	Size int // embeddings kept
	From int // the first step, from 0, whose embeddings are kept

	dim    int
	rows   []float32 // (len(labels), dim), oldest first
	labels []int32
	items  []uint64

	joined adversary.Batch // the batch and what is compared with it
	z      *array.Array
}

// join returns the embeddings z of batch b with those of other images in the memory after
// them, as a batch without images.
func (m *Memory) join(z *array.Array, b *adversary.Batch) (*array.Array, *adversary.Batch) {
	n, d := z.Rows(), z.Cols()
	if m.z == nil || m.z.Cols() != d {
		m.z = array.New(n+m.Size, d)
	}
	m.joined.Labels = append(m.joined.Labels[:0], b.Labels...)
	m.joined.IDs = append(m.joined.IDs[:0], b.IDs...)
	m.z.SetRows(n + m.Size)
	copy(m.z.Data, z.Data)
	for k, item := range m.items {
		if slices.Contains(b.IDs, item) {
			continue
		}
		copy(m.z.Row(len(m.joined.Labels)), m.rows[k*d:(k+1)*d])
		m.joined.Labels = append(m.joined.Labels, m.labels[k])
		m.joined.IDs = append(m.joined.IDs, item)
	}
	m.z.SetRows(len(m.joined.Labels))
	return m.z, &m.joined
}

// push keeps the embeddings of a batch in place of the oldest.
func (m *Memory) push(z *array.Array, b *adversary.Batch) {
	m.dim = z.Cols()
	m.rows = append(m.rows, z.Data[:z.Rows()*m.dim]...)
	m.labels = append(m.labels, b.Labels...)
	m.items = append(m.items, b.IDs...)
	if over := len(m.labels) - m.Size; over > 0 {
		m.rows = append(m.rows[:0], m.rows[over*m.dim:]...)
		m.labels = append(m.labels[:0], m.labels[over:]...)
		m.items = append(m.items[:0], m.items[over:]...)
	}
}

// anchored is a miner of tuples whose anchor is one of the first rows, for a batch and what
// a memory has after it.
type anchored struct {
	mine.Miner
	rows int
}

// Mine implements mine.Miner.
func (m anchored) Mine(z *array.Array, labels []int32, r *rng.Stream, out *loss.Tuples) (mine.Stats, error) {
	if p, ok := m.Miner.(mine.AllPairs); ok {
		p.Anchors = m.rows
		return p.Mine(z, labels, r, out)
	}
	s, err := m.Miner.Mine(z, labels, r, out)
	out.Triplets = slices.DeleteFunc(out.Triplets, func(t loss.Triplet) bool { return int(t.A) >= m.rows })
	return s, err
}

// remembered is what a checkpoint has of a memory besides its embeddings.
type remembered struct {
	Labels []int32  `json:"labels"`
	Items  []uint64 `json:"items"`
}

const memoryTensor = "memory/embeddings"

// store puts the memory into a checkpoint.
func (m *Memory) store(f *safetensors.File) error {
	if len(m.labels) == 0 {
		return nil
	}
	text, err := json.Marshal(remembered{m.labels, m.items})
	if err != nil {
		return err
	}
	f.Meta["memory"] = string(text)
	f.Tensors = append(f.Tensors, safetensors.Tensor{Name: memoryTensor, Shape: []int{len(m.labels), m.dim}, Data: m.rows})
	return nil
}

// restore takes the memory of a checkpoint, for embeddings of dim numbers.
func (m *Memory) restore(f *safetensors.File, dim int) error {
	m.rows, m.labels, m.items, m.dim = m.rows[:0], m.labels[:0], m.items[:0], dim
	t, text := f.Find(memoryTensor), f.Meta["memory"]
	if t == nil && text == "" {
		return nil
	}
	var r remembered
	err := json.Unmarshal([]byte(text), &r)
	if n := len(r.Labels); err != nil || t == nil || n == 0 || n > m.Size || len(r.Items) != n || !slices.Equal(t.Shape, []int{n, dim}) {
		return fmt.Errorf("%w: its memory is not one of at most %d embeddings of %d numbers", ErrCheckpoint, m.Size, dim)
	}
	m.rows, m.labels, m.items = append(m.rows, t.Data...), r.Labels, r.Items
	return nil
}
