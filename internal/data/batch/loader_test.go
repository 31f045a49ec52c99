package batch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"tercet/internal/data"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
	"tercet/internal/testutil"
)

// take reads n batches and gives each back.
func take(t *testing.T, l *Loader, n int) []Batch {
	t.Helper()
	defer l.Close()
	var out []Batch
	for range n {
		b, err := l.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Batch{slices.Clone(b.Index), b.Images.Clone(), slices.Clone(b.Labels), b.Epoch, b.Step})
		l.Recycle(b)
	}
	return out
}

func same(t *testing.T, what string, got, want []Batch) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d batches, want %d", what, len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Epoch != w.Epoch || g.Step != w.Step || !slices.Equal(g.Index, w.Index) || !slices.Equal(g.Labels, w.Labels) ||
			!slices.Equal(g.Images.Shape, w.Images.Shape) || !slices.Equal(g.Images.Data, w.Images.Data) {
			t.Fatalf("%s: batch %d (epoch %d step %d) differs from epoch %d step %d", what, i, g.Epoch, g.Step, w.Epoch, w.Step)
		}
	}
}

// slow delays some reads, so that batches are finished out of order.
type slow struct{ *data.Memory }

func (s slow) Read(i int, dst []float32) error {
	if i%7 == 0 {
		time.Sleep(200 * time.Microsecond)
	}
	return s.Memory.Read(i, dst)
}

// The batches against loops that follow the definition, then the same bits for
// any read-ahead, number of threads and place of beginning.
func TestLoaderDependsOnNothingElse(t *testing.T) {
	defer par.SetThreads(0)
	ds := toy(t, 6, 5, 2, 11, 9, 9)
	s := sampler(t, ds, ClassPairs{Pairs: 4, Repeats: true}, Options{Seed: 3})
	tf, err := Augment{Pad: 2, Crop: 4, Flip: 0.5}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	const seed, n = 9, 3*8 + 2
	var want []Batch
	img, scratch := make([]float32, 60), make([]float32, 60)
	for epoch := 0; len(want) < n; epoch++ {
		for step, ids := range s.Plan(epoch) {
			b := Batch{Index: ids, Images: array.New(len(ids), 4, 4, 2), Epoch: epoch, Step: step}
			for p, id := range ids {
				b.Labels = append(b.Labels, ds.Labels()[id])
				if err := ds.Read(int(id), img); err != nil {
					t.Fatal(err)
				}
				tf.Apply(img, scratch, 6, 5, 2, rng.New(seed, "augment", uint64(epoch), uint64(step), uint64(p)))
				copy(b.Images.Row(p), img[:32])
			}
			want = append(want, b)
		}
	}
	want = want[:n]
	for _, threads := range []int{1, 2, 5} {
		par.SetThreads(threads)
		for _, ahead := range []int{0, 1, 3, 8} {
			what := fmt.Sprintf("threads %d, ahead %d", threads, ahead)
			same(t, what, take(t, NewLoader(slow{ds}, s, tf, seed, 0, 0, ahead), n), want)
			for _, from := range []int{1, 7, 8, 13} {
				epoch, step := from/8, from%8
				same(t, what+" resumed", take(t, NewLoader(ds, s, tf, seed, epoch, step, ahead), n-from), want[from:])
			}
		}
	}
	// The end of an epoch is the beginning of the next.
	same(t, "step = steps", take(t, NewLoader(ds, s, tf, seed, 0, 8, 2), 3), want[8:11])
}

func TestLoaderWithoutTransform(t *testing.T) {
	ds := toy(t, 3, 2, 1, 4, 4)
	pixels, _, _ := testutil.Toy(6, 4, 4)
	l := NewLoader(ds, ordered(ds, 3, false), nil, 0, 0, 0, 2)
	for _, b := range take(t, l, 6) {
		for p, id := range b.Index {
			for j, v := range b.Images.Row(p) {
				if v != float32(pixels[int(id)*6+j])/255 {
					t.Fatalf("item %d pixel %d is %v", id, j, v)
				}
			}
		}
	}
}

// A batch that is not given back is not overwritten.
func TestLoaderKeepsBatchesThatAreHeld(t *testing.T) {
	ds := toy(t, 2, 2, 1, 8, 8)
	l := NewLoader(ds, ordered(ds, 4, true), nil, 0, 0, 0, 3)
	defer l.Close()
	held, err := l.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	was := slices.Clone(held.Images.Data)
	for range 20 {
		b, err := l.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		l.Recycle(b)
	}
	if !slices.Equal(was, held.Images.Data) {
		t.Fatal("a held batch changed")
	}
}

func TestLoaderErrors(t *testing.T) {
	ctx := context.Background()
	ds := toy(t, 2, 2, 1, 8, 8)
	s := ordered(ds, 4, false)
	for _, ahead := range []int{0, 1, 4} {
		l := NewLoader(broken{ds, 9}, s, nil, 0, 0, 0, ahead)
		for range 2 {
			if _, err := l.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // final
			_, err := l.Next(ctx)
			testutil.WantError(t, err, errDisk, "epoch 0", "step 2", "row 1", "item 9", "x/9.png", "disk on fire")
		}
		l.Close()

		l = NewLoader(ds, s, nil, 0, 0, 5, ahead)
		_, err := l.Next(ctx)
		testutil.WantError(t, err, nil, "step 5", "4 steps")
		l.Close()

		l = NewLoader(ds, s, RandomCrop{Size: 3}, 0, 0, 0, ahead)
		_, err = l.Next(ctx)
		testutil.WantError(t, err, nil, "crop of 3", "2x2")
		l.Close()

		l = NewLoader(ds, s, nil, 0, 0, 0, ahead)
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		_, err = l.Next(stopped)
		testutil.WantError(t, err, context.Canceled)
		if b, err := l.Next(ctx); err != nil || b.Step != 0 {
			t.Errorf("after a canceled Next: %v", err)
		}
		l.Close()
		l.Close()
		_, err = l.Next(ctx)
		testutil.WantError(t, err, ErrClosed)
	}
}

// What is random in the data follows the batch's place, before the loader's own transform.
func TestLoaderDrawsAnew(t *testing.T) {
	defer par.SetThreads(0)
	crop, err := Augment{Pad: 2, Crop: 6}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		ds, err := data.Distorted(toy(t, 9, 8, 2, 7, 7), data.DistortOptions{Strength: 0.7, Seed: 5, Fresh: fresh})
		if err != nil {
			t.Fatal(err)
		}
		s := ordered(ds, 4, true)
		per := s.Steps()
		for _, tf := range []Transform{nil, crop} {
			const seed = 11
			var want []Batch
			img, scratch := make([]float32, 144), make([]float32, 144)
			for epoch := range 3 {
				for step, ids := range s.Plan(epoch) {
					oh, ow := 9, 8
					if tf != nil {
						oh, ow = 6, 6
					}
					b := Batch{Index: ids, Images: array.New(len(ids), oh, ow, 2), Epoch: epoch, Step: step}
					for p, id := range ids {
						b.Labels = append(b.Labels, ds.Labels()[id])
						read := func() error { return ds.Read(int(id), img) }
						if fresh {
							read = func() error {
								return data.ReadAnew(ds, int(id), img, data.Draw{Seed: seed, Epoch: epoch, Step: step, Row: p})
							}
						}
						if err := read(); err != nil {
							t.Fatal(err)
						}
						if tf != nil {
							tf.Apply(img, scratch, 9, 8, 2, rng.New(seed, "augment", uint64(epoch), uint64(step), uint64(p)))
						}
						copy(b.Images.Row(p), img)
					}
					want = append(want, b)
				}
			}
			for _, threads := range []int{1, 3} {
				par.SetThreads(threads)
				for _, ahead := range []int{0, 1, 5} {
					for _, from := range []int{0, 1, per, per + 2} {
						what := fmt.Sprintf("fresh %v, %v, threads %d, ahead %d, from %d", fresh, tf, threads, ahead, from)
						same(t, what, take(t, NewLoader(ds, s, tf, seed, from/per, from%per, ahead), len(want)-from), want[from:])
					}
				}
			}
		}
	}
}

func TestLoaderCancelWhileWaiting(t *testing.T) {
	ds := toy(t, 2, 2, 1, 8, 8)
	block := make(chan struct{})
	l := NewLoader(blocking{ds, block}, ordered(ds, 4, false), nil, 0, 0, 0, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := l.Next(ctx)
	testutil.WantError(t, err, context.DeadlineExceeded)
	close(block)
	if b, err := l.Next(context.Background()); err != nil || b.Step != 0 {
		t.Fatalf("after the wait: %v", err)
	}
	l.Close()
}

type blocking struct {
	*data.Memory
	until chan struct{}
}

func (b blocking) Read(i int, dst []float32) error {
	<-b.until
	return b.Memory.Read(i, dst)
}

func TestLoaderStopsItsGoroutines(t *testing.T) {
	ds := toy(t, 2, 2, 1, 8, 8)
	before := runtime.NumGoroutine()
	for range 20 {
		l := NewLoader(ds, ordered(ds, 4, true), nil, 0, 0, 0, 4)
		if _, err := l.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	// Close returns when the goroutines are done, a moment before they are gone.
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// In the steady state, augmentation included, only an epoch's plan allocates.
func TestLoaderAllocatesNothing(t *testing.T) {
	ds := toy(t, 8, 8, 3, 400, 400)
	s := sampler(t, ds, ClassPairs{Pairs: 4, Repeats: true}, Options{})
	tf, err := Augment{Pad: 2, Flip: 0.5}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []int{0, 3} {
		l := NewLoader(ds, s, tf, 0, 0, 0, ahead)
		step := func() {
			b, err := l.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			l.Recycle(b)
		}
		for range 20 {
			step()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const steps = 150 // within epoch 0
		for range steps {
			step()
		}
		runtime.ReadMemStats(&after)
		// A batch more in flight than ever before may still be made.
		if a := after.Mallocs - before.Mallocs; a > steps/2 {
			t.Errorf("ahead %d: %d allocations in %d steps", ahead, a, steps)
		}
		l.Close()
	}
}
