package sharded

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/ranks"
	"tercet/internal/ranks/rankstest"
	"tercet/internal/rng"
)

// networks have, between them, every layer with parameters.
var networks = []struct {
	name string
	spec nn.Spec
	rows int
	norm bool // has batch norm
}{
	{"c2f2", nn.Spec{Name: "c2f2", Height: 12, Width: 12, Channels: 1, Embedding: 16, Normalize: true}, 16, false},
	{"mlp", nn.Spec{Name: "mlp", Height: 5, Width: 3, Channels: 2, Units: 24, Embedding: 8}, 16, false},
	{"cnn", nn.Spec{Name: "cnn", Height: 12, Width: 12, Channels: 1, Units: 4, Embedding: 8, Normalize: true}, 24, true},
	{"resnet", nn.Spec{Name: "resnet18", Height: 16, Width: 16, Channels: 3, Units: 4, Embedding: 8, Normalize: true, Stem: "imagenet"}, 24, true},
}

func built(t testing.TB, s nn.Spec) *nn.Model {
	t.Helper()
	m, err := nn.Build(s, rng.New(2, "sharded"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batch is unlike images in each row, and a gradient for each embedding.
func batch(s nn.Spec, rows int) (x, dz *array.Array) {
	r := rng.New(7, "batch", uint64(rows))
	x = array.New(rows, s.Height, s.Width, s.Channels)
	for i := range x.Data {
		x.Data[i] = float32(r.Float64())
	}
	dz = array.New(rows, s.Embedding)
	for i := range dz.Data {
		dz.Data[i] = float32(r.NormFloat64())
	}
	return x, dz
}

// pass is what a training pass leaves.
type pass struct{ z, dx, grads, stats []float32 }

// bits is the sum of the bits that were left.
func (p pass) bits() [sha256.Size]byte {
	h := sha256.New()
	for _, x := range [][]float32{p.z, p.dx, p.grads, p.stats} {
		_ = binary.Write(h, binary.LittleEndian, int64(len(x))) // a hash takes all that it is given
		_ = binary.Write(h, binary.LittleEndian, x)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// embedder is nn.Model or Model.
type embedder interface {
	nn.Embedder
	Params() []*nn.Param
}

func train(m embedder, x, dz *array.Array, mode nn.Mode) (p pass) {
	for _, q := range m.Params() {
		if q.Trained() {
			q.Grad.Zero()
		}
	}
	p.z = slices.Clone(m.Embed(x, mode).Data)
	p.dx = slices.Clone(m.Backward(dz, nn.Weights|nn.Input).Data)
	for _, q := range m.Params() {
		if q.Trained() {
			p.grads = append(p.grads, q.Grad.Data...)
		} else {
			p.stats = append(p.stats, q.Value.Data...)
		}
	}
	return p
}

// trained is a pass of shards in so many ranks, which must agree.
func trained(t testing.TB, s nn.Spec, x, dz *array.Array, mode nn.Mode, shards, size, roles int, statistics nn.Statistics, wrap func(ranks.Comm) ranks.Comm) pass {
	t.Helper()
	all := make([]pass, size)
	errs := rankstest.Local(size, func(c ranks.Comm) error {
		if wrap != nil {
			c = wrap(c)
		}
		m, err := New(built(t, s), shards, statistics, c)
		if err != nil {
			return err
		}
		m.Roles(roles)
		all[c.Rank()] = train(m, x, dz, mode)
		return nil
	})
	for r, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", r, err)
		}
		if wrap == nil && all[r].bits() != all[0].bits() {
			t.Fatalf("rank %d ends with other bits than rank 0", r)
		}
	}
	return all[0]
}

func TestRanksDoNotChangeBits(t *testing.T) {
	t.Parallel()
	for _, n := range networks {
		x, dz := batch(n.spec, n.rows)
		for _, mode := range []nn.Mode{nn.Train, nn.Frozen} {
			for _, statistics := range []nn.Statistics{nn.OfBatch, nn.OfShard} {
				if statistics == nn.OfShard && (!n.norm || mode == nn.Frozen) {
					continue
				}
				for _, roles := range []int{1, 3} {
					want := trained(t, n.spec, x, dz, mode, 4, 1, roles, statistics, nil)
					size := 4 / (1 + roles/3) // 4 of plain batches, 2 of tuples
					if got := trained(t, n.spec, x, dz, mode, 4, size, roles, statistics, nil); got.bits() != want.bits() {
						t.Errorf("%s, mode %d, statistics %d, roles %d: %d ranks give other bits than one", n.name, mode, statistics, roles, size)
					}
				}
			}
		}
	}
}

// TestTreeOfSeparateModels adds the gradients of one network for each shard.
func TestTreeOfSeparateModels(t *testing.T) {
	t.Parallel()
	for _, n := range networks {
		x, dz := batch(n.spec, n.rows)
		for _, shards := range []int{2, 4, 8} {
			got := trained(t, n.spec, x, dz, nn.Train, shards, 1, 1, nn.OfShard, nil)
			each := n.rows / shards
			var grads [][]float32
			var z, dx []float32
			mean := make([]float64, len(got.stats))
			for s := range shards {
				p := train(built(t, n.spec), x.Slice(s*each, (s+1)*each), dz.Slice(s*each, (s+1)*each), nn.Train)
				grads, z, dx = append(grads, p.grads), append(z, p.z...), append(dx, p.dx...)
				for i, v := range p.stats {
					mean[i] += float64(v) / float64(shards)
				}
			}
			for len(grads) > 1 {
				var sums [][]float32
				for i := 0; i < len(grads); i += 2 {
					sum := slices.Clone(grads[i])
					for k, v := range grads[i+1] {
						sum[k] += v
					}
					sums = append(sums, sum)
				}
				grads = sums
			}
			for i := range grads[0] {
				if math.Float32bits(grads[0][i]) != math.Float32bits(got.grads[i]) {
					t.Fatalf("%s, %d shards: gradient %d is %v, the tree of separate networks gives %v", n.name, shards, i, got.grads[i], grads[0][i])
				}
			}
			if !slices.Equal(z, got.z) || !slices.Equal(dx, got.dx) {
				t.Errorf("%s, %d shards: embeddings or input gradients differ from those of separate networks", n.name, shards)
			}
			// Running statistics are a mean of the old one and the new one: their mean is that of
			// the separate ones, but for rounding.
			for i, v := range mean {
				if math.Abs(v-float64(got.stats[i])) > 1e-6*(1+math.Abs(v)) {
					t.Fatalf("%s, %d shards: running statistic %d is %v, the mean of separate networks' is %v", n.name, shards, i, got.stats[i], v)
				}
			}
		}
	}
}

// TestAgainstOneShard compares with the gradients of the whole batch, within 1e-5 of the
// largest sum, in a tensor, of the magnitudes of the rows' gradients.
func TestAgainstOneShard(t *testing.T) {
	t.Parallel()
	for _, n := range networks {
		x, dz := batch(n.spec, n.rows)
		mode := nn.Train
		want := train(built(t, n.spec), x, dz, mode)
		magnitude := make([]float64, len(want.grads))
		m := built(t, n.spec)
		if n.norm { // rows depend on each other: those of the pass with constant statistics
			mode = nn.Frozen
		}
		for r := range n.rows {
			for i, v := range train(m, x.Slice(r, r+1), dz.Slice(r, r+1), mode).grads {
				magnitude[i] += math.Abs(float64(v))
			}
		}
		for _, shards := range []int{2, 8} {
			got := trained(t, n.spec, x, dz, nn.Train, shards, 2, 1, nn.OfBatch, nil)
			at := 0
			for _, p := range m.Params() {
				if !p.Trained() {
					continue
				}
				end := at + len(p.Grad.Data)
				largest := slices.Max(magnitude[at:end]) // within a row, terms of pixels cancel
				for _, v := range want.grads[at:end] {   // those of batch norm are of another pass
					largest = max(largest, math.Abs(float64(v)))
				}
				for i := at; i < end; i++ {
					if d := math.Abs(float64(want.grads[i]) - float64(got.grads[i])); d > 1e-5*largest {
						t.Fatalf("%s, %d shards: %s[%d] has gradient %v, of one shard %v; magnitudes sum to %v", n.name, shards, p.Name, i-at, got.grads[i], want.grads[i], largest)
					}
				}
				at = end
			}
			if shards == 2 && !n.norm && !slices.Equal(got.z, want.z) {
				t.Errorf("%s: embeddings differ from those of one shard", n.name)
			}
			for i, v := range want.stats {
				if math.Abs(float64(v)-float64(got.stats[i])) > 1e-6*(1+math.Abs(float64(v))) {
					t.Errorf("%s: running statistic %d is %v, of one shard %v", n.name, i, got.stats[i], v)
				}
			}
		}
	}
}

// swapped is a job whose first two ranks' rows are swapped on the way.
type swapped struct{ ranks.Comm }

func (s swapped) Allgather(mine, all []byte) {
	s.Comm.Allgather(mine, all)
	n := len(mine)
	first := slices.Clone(all[:n])
	copy(all[:n], all[n:2*n])
	copy(all[n:], first)
}

func TestSwappedRowsAreSeen(t *testing.T) {
	t.Parallel()
	n := networks[0]
	x, dz := batch(n.spec, n.rows)
	want := trained(t, n.spec, x, dz, nn.Train, 4, 1, 1, nn.OfBatch, nil)
	got := trained(t, n.spec, x, dz, nn.Train, 4, 2, 1, nn.OfBatch, func(c ranks.Comm) ranks.Comm { return swapped{c} })
	if slices.Equal(got.z, want.z) || slices.Equal(got.grads, want.grads) {
		t.Error("rows of two ranks are swapped, and nothing changes: the batch has no unlike rows")
	}
}

// TestUnevenAndSmallBatches: a short last batch is dealt unevenly, and one with fewer
// rows than shards to no one.
func TestUnevenAndSmallBatches(t *testing.T) {
	t.Parallel()
	for _, n := range networks[1:3] {
		for _, rows := range []int{3, 7, 9, 13} {
			x, dz := batch(n.spec, rows)
			want := trained(t, n.spec, x, dz, nn.Train, 4, 1, 1, nn.OfBatch, nil)
			for _, size := range []int{2, 4} {
				if got := trained(t, n.spec, x, dz, nn.Train, 4, size, 1, nn.OfBatch, nil); got.bits() != want.bits() {
					t.Errorf("%s, %d rows: %d ranks give other bits than one", n.name, rows, size)
				}
			}
		}
	}
}

func TestDealingTakesEachRowOnce(t *testing.T) {
	t.Parallel()
	for rows := 1; rows < 40; rows++ {
		for _, roles := range []int{0, 1, 2, 3, 5, 6} {
			for _, shards := range []int{1, 2, 4, 8} {
				d, ok := deal(rows, roles, shards, 1)
				if ok != (rows >= shards) {
					t.Fatalf("%d rows, %d shards: ok %v", rows, shards, ok)
				}
				seen := make([]int, rows)
				for s := range shards {
					for _, p := range d.of(s, nil) {
						for i := p.lo; i < p.hi; i++ {
							seen[i]++
						}
					}
					for _, p := range d.of(s, nil) { // whole tuples
						if n := rows / d.roles; p.lo%n != d.of(s, nil)[0].lo%n {
							t.Fatalf("%d rows of %d roles: shard %d has rows of unlike tuples", rows, roles, s)
						}
					}
				}
				for i, v := range seen {
					if v != 1 {
						t.Fatalf("%d rows, %d roles, %d shards: row %d is in %d shards", rows, roles, shards, i, v)
					}
				}
			}
		}
	}
}

func TestRowsThatKeepTheirLength(t *testing.T) {
	t.Parallel()
	s := networks[0].spec
	x, dz := batch(s, 24)
	want := pass{}
	for _, size := range []int{1, 2, 4} {
		all := make([]pass, size)
		for _, err := range rankstest.Local(size, func(c ranks.Comm) error {
			m, err := New(built(t, s), 4, nn.OfBatch, c)
			if err != nil {
				return err
			}
			m.Roles(3)
			m.LeaveRaw([2]int{0, 8})
			all[c.Rank()] = train(m, x, dz, nn.Train)
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if size == 1 {
			want = all[0]
			for r := range 24 {
				sum := 0.0
				for _, v := range want.z[r*16 : (r+1)*16] {
					sum += float64(v) * float64(v)
				}
				if raw := math.Abs(sum-1) > 1e-3; raw != (r < 8) {
					t.Errorf("row %d has squared length %v", r, sum)
				}
			}
		} else if all[0].bits() != want.bits() {
			t.Errorf("%d ranks give other bits than one", size)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	m := built(t, networks[1].spec)
	if _, err := New(m, 3, nn.OfBatch, nil); err == nil {
		t.Error("3 shards are accepted")
	}
	for _, err := range rankstest.Local(4, func(c ranks.Comm) error {
		_, err := New(m, 2, nn.OfBatch, c)
		return err
	}) {
		if err == nil {
			t.Error("4 ranks of 2 shards are accepted")
		}
	}
}
