//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"errors"
	"math"
	"testing"

	"tercet/internal/device"
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/rng"
)

// trainer takes steps towards embeddings that were drawn.
type trainer struct {
	*nn.Model
	optim.Optimizer
	norms []float64
}

var optimizers = []optim.Config{
	{Name: "adamw"}, {Name: "sgd", Keys: optim.SGD{Momentum: 0.9, Nesterov: true}, WeightDecay: 0.01},
}

func newTrainer(t *testing.T, m *nn.Model, c optim.Config) *trainer {
	t.Helper()
	o, err := optim.New(c, m.Params())
	if err != nil {
		t.Fatal(err)
	}
	return &trainer{Model: m, Optimizer: o}
}

func (tr *trainer) steps(s nn.Spec, rows, from, to int) {
	params := tr.Params()
	for step := from; step < to; step++ {
		x, dz := batch(s, rows, tr.Dim(), uint64(step))
		z := tr.Embed(x, nn.Train)
		for i := range dz.Data {
			dz.Data[i] = (z.Data[i] - dz.Data[i]) / float32(rows)
		}
		optim.ZeroGrad(params)
		tr.Backward(dz, nn.Weights)
		tr.norms = append(tr.norms, optim.ClipByNorm(params, 0.5))
		optim.ClipByValue(params, 0.1)
		tr.Step(1e-4)
	}
}

// weights are all values, and the state of the optimizer.
func (tr *trainer) weights() (out []float32) {
	for _, p := range tr.Params() {
		out = append(out, p.Value.Data...)
	}
	for _, s := range tr.State() {
		out = append(out, s.Data...)
	}
	return out
}

// move begins another trainer where tr is.
func (tr *trainer) move(t *testing.T, to *trainer) {
	t.Helper()
	for i, p := range to.Params() {
		copy(p.Value.Data, tr.Params()[i].Value.Data)
	}
	if err := to.Restore(tr.Steps(), tr.State()); err != nil {
		t.Fatal(err)
	}
}

func relative(a, b []float32) float64 {
	var off, all float64
	for i, v := range a {
		d := float64(v) - float64(b[i])
		off, all = off+d*d, all+float64(v)*float64(v)
	}
	return math.Sqrt(off / all)
}

func sameBits(t *testing.T, what string, a, b []float32) {
	t.Helper()
	for i, v := range a {
		if math.Float32bits(v) != math.Float32bits(b[i]) {
			t.Fatalf("%s: number %d is %v and %v", what, i, v, b[i])
		}
	}
}

func TestTraining(t *testing.T) {
	const steps = 10
	for _, n := range networks {
		if n.name == "resnet50" {
			continue // of two channels, whose gradients of norm 1000 part any two engines in some steps
		}
		for _, c := range optimizers {
			t.Run(n.name+"/"+c.Name, func(t *testing.T) {
				cpu, gpu := newTrainer(t, built(t, n.spec), c), newTrainer(t, attached(t, n.spec), c)
				cpu.ComputeDirectly()
				begin := cpu.weights()
				cpu.steps(n.spec, n.rows, 0, steps)
				gpu.steps(n.spec, n.rows, 0, steps)
				for i, v := range cpu.norms {
					if d := math.Abs(v-gpu.norms[i]) / v; !(d < 1e-4) {
						t.Errorf("step %d: the norm of the gradient is %v, on the CPU %v", i, gpu.norms[i], v)
					}
				}
				a, b := cpu.weights(), gpu.weights()
				off, moved := relative(a, b), relative(a, begin)
				t.Logf("after %d steps weights and state differ by %.2g of their size, and have moved by %.2g", steps, off, moved)
				if !(off < 1e-4) || !(moved > 100*off) {
					t.Errorf("weights and state differ by %.2g of their size; they have moved by %.2g", off, moved)
				}

				again := newTrainer(t, attached(t, n.spec), c)
				again.steps(n.spec, n.rows, 0, 5)
				resumed := newTrainer(t, attached(t, n.spec), c)
				again.move(t, resumed)
				again.steps(n.spec, n.rows, 5, steps)
				sameBits(t, "a second run, whose weights were read on the way", again.weights(), b)
				resumed.steps(n.spec, n.rows, 5, steps)
				sameBits(t, "a run that was resumed", resumed.weights(), b)

				back := newTrainer(t, built(t, n.spec), c)
				back.ComputeDirectly()
				resumed.move(t, back)
				sameBits(t, "moved to the CPU", back.weights(), b)
				back.steps(n.spec, n.rows, steps, steps+2)
				resumed.steps(n.spec, n.rows, steps, steps+2)
				if off := relative(back.weights(), resumed.weights()); !(off < 1e-4) {
					t.Errorf("continued on the CPU, weights differ by %.2g of their size", off)
				}
			})
		}
	}
}

// What the loop asks of a network besides passes.
func TestHeadAloneFrozenAndRaw(t *testing.T) {
	s := networks[5].spec
	for _, freeze := range []bool{false, true} {
		cpu, gpu := built(t, s), built(t, s)
		if freeze {
			cpu.FreezeBatchNorm()
			gpu.FreezeBatchNorm()
		}
		if err := Attach(gpu); err != nil {
			t.Fatal(err)
		}
		cpu.ComputeDirectly()
		x, dz := batch(s, 8, cpu.Dim(), 1)
		for _, alone := range []bool{true, false} {
			cpu.TrainHead(alone)
			gpu.TrainHead(alone)
			cpu.LeaveRaw([2]int{1, 3}, [2]int{6, 8})
			gpu.LeaveRaw([2]int{1, 3}, [2]int{6, 8})
			a, b := run(cpu, x, dz, nn.Frozen, nn.Weights), run(gpu, x, dz, nn.Frozen, nn.Weights)
			if len(a) != len(b) {
				t.Fatalf("%d tensors, want %d", len(b), len(a))
			}
			zeros := 0
			for name, want := range a {
				if u := units(want, b[name], nil); !(u < 4000) {
					t.Errorf("freeze %v, head alone %v: %s differs by %.0f units", freeze, alone, name, u)
				}
				if want[0] == 0 {
					zeros++
				}
			}
			if alone && zeros < 10 {
				t.Errorf("the head alone: %d gradients are 0", zeros)
			}
		}
	}
}

func TestLayersWithoutKernels(t *testing.T) {
	m, err := nn.Build(nn.Spec{Name: "vit-s16", Height: 32, Width: 32, Channels: 3}, rng.New(1, "vit"))
	if err != nil {
		t.Fatal(err)
	}
	if err = Attach(m); err == nil {
		t.Fatal("a transformer computes on a device")
	}
	t.Log(err)
	if _, err := Open("opencl:77"); err == nil {
		t.Error("a second device was opened")
	}
}

// A batch that is too large is an error of the device and no crash.
func TestTooLarge(t *testing.T) {
	m := attached(t, nn.Spec{Name: "linear", Height: 1, Width: 1, Channels: 1, Embedding: 1 << 20})
	x := array.New(1<<11, 1, 1, 1)
	err := func() (err error) {
		defer nn.RecoverEngine(&err)
		m.Embed(x, nn.Eval)
		return nil
	}()
	if err == nil {
		t.Fatal("2^31 embeddings were computed")
	}
	t.Log(err)
}

// failing is a device that is lost after so many launches.
type failing struct {
	device.Device
	left int
}

func (f *failing) Launch(kernel string, grid, group [3]int, args ...any) error {
	if f.left--; f.left < 0 {
		return &device.Error{Device: "test:0", Call: "launch of " + kernel, Code: -36, Text: "lost"}
	}
	return f.Device.Launch(kernel, grid, group, args...)
}

// A device that is lost is an error at every launch, forward or backward, and the network's
// lock is free again.
func TestLostDevice(t *testing.T) {
	s := networks[3].spec
	for left := range 60 {
		m := built(t, s)
		q := &queue{Device: &failing{opened.Device, left}}
		e, err := newEngine(q, m)
		if err != nil {
			t.Fatal(err)
		}
		m.Run(e, e.store)
		x, dz := batch(s, 4, m.Dim(), 1)
		err = func() (err error) {
			defer nn.RecoverEngine(&err)
			m.Embed(x, nn.Train)
			m.Backward(dz, nn.Weights)
			return nil
		}()
		var lost *device.Error
		if done := err == nil; done && left < 20 || !done && !errors.As(err, &lost) {
			t.Fatalf("lost after %d launches: %v", left, err)
		}
		if !q.TryLock() {
			t.Fatalf("lost after %d launches: the device stays locked", left)
		}
	}
}

// counting counts the bytes that are allocated on a device, and has no more than most.
type counting struct {
	device.Device
	bytes, most int
}

func (c *counting) Alloc(bytes int) (device.Buffer, error) {
	if c.bytes+bytes > c.most {
		return nil, &device.Error{Device: "test:0", Call: "alloc", Code: -4, Text: "out of memory"}
	}
	c.bytes += bytes
	return c.Device.Alloc(bytes)
}

func (c *counting) Free(b device.Buffer) {
	c.bytes -= b.Bytes()
	c.Device.Free(b)
}

// Networks that are gone leave no memory on the device: with room for three, many follow each
// other.
func TestNetworksThatAreGone(t *testing.T) {
	s := networks[1].spec
	c := &counting{Device: opened.Device, most: 1 << 40}
	q := &queue{Device: c}
	train := func() {
		m := built(t, s)
		e, err := newEngine(q, m)
		if err != nil {
			t.Fatal(err)
		}
		m.Run(e, e.store)
		newTrainer(t, m, optimizers[0]).steps(s, 4, 0, 2)
	}
	train()
	c.most = 3 * c.bytes
	for range 20 {
		train()
	}
}
