package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/engine/array"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// Batch is what a loader hands out.
type Batch struct {
	Index  []int32      // item of each row
	Images *array.Array // (B, H, W, C)
	Labels []int32      // of the dataset, or the sampler's own (see RowLabels)
	Epoch  int
	Step   int // within the epoch
}

// ErrClosed is returned by Next after Close.
var ErrClosed = errors.New("loader is closed")

// Loader makes the batches of a sampler's plans, epoch after epoch without end,
// ahead of their use on spare goroutines. The batches and their order depend on
// the arguments of NewLoader alone, not on timing or threads. After the first
// batches only an epoch's plan allocates, if batches are recycled.
//
// Next and Recycle are for one goroutine.
type Loader struct {
	ds     data.Dataset
	s      Sampler
	tf     Transform
	seed   uint64
	labels []int32
	anew   bool // images are drawn again each time
	h, w   int  // of the dataset
	oh, ow int  // of the batches
	c      int

	mu          sync.Mutex // guards the position up to claimed
	plan        [][]int32
	marks       [][]int32 // labels of the plan's rows; nil: the dataset's
	epoch, step int
	claimed     int

	slots  []chan result // batch number q arrives in slot q mod ahead
	tokens chan struct{} // each lets a worker make one batch
	taken  int           // batches handed out
	quit   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
	free   par.Free[Batch]
	local  worker // for ahead < 1
	waited time.Duration
	err    error // final
}

type result struct {
	batch *Batch
	err   error
}

// worker holds one goroutine's scratch.
type worker struct {
	stream       rng.Stream
	img, scratch []float32
}

// NewLoader returns a loader that begins at the given step of the given epoch
// and keeps up to ahead batches ready; with ahead < 1 Next makes them itself. tf
// may be nil. The augmentation of row p of a batch depends on (seed, epoch, step,
// p). What is wrong with the arguments is the error of the first Next.
func NewLoader(ds data.Dataset, s Sampler, tf Transform, seed uint64, epoch, step, ahead int) *Loader {
	l := &Loader{ds: ds, s: s, tf: tf, seed: seed, labels: ds.Labels(), anew: data.Redraws(ds), epoch: epoch, step: step, quit: make(chan struct{})}
	l.h, l.w, l.c = ds.Shape()
	l.oh, l.ow = l.h, l.w
	if tf != nil {
		l.oh, l.ow, l.err = tf.Out(l.h, l.w)
	}
	switch n := s.Steps(); {
	case l.err != nil:
	case n < 1:
		l.err = fault.Unfit("the sampler makes no batches")
	case epoch < 0 || step < 0 || step > n:
		l.err = fmt.Errorf("loader cannot begin at epoch %d, step %d: an epoch has %d steps", epoch, step, n)
	case step == n:
		l.epoch, l.step = epoch+1, 0
	}
	if l.err != nil {
		return l
	}
	if l.err = l.begin(l.epoch); l.err != nil || ahead < 1 {
		return l
	}
	l.slots = make([]chan result, ahead)
	l.tokens = make(chan struct{}, ahead)
	for i := range l.slots {
		l.slots[i] = make(chan result, 1)
		l.tokens <- struct{}{}
	}
	for range min(ahead, par.Threads()) {
		l.wg.Add(1)
		go l.work()
	}
	return l
}

// begin plans an epoch.
func (l *Loader) begin(epoch int) error {
	if c, ok := l.s.(interface{ check(epoch int) error }); ok {
		if err := c.check(epoch); err != nil {
			return fmt.Errorf("epoch %d: %w", epoch, err)
		}
	}
	plan := l.s.Plan(epoch)
	if n := l.s.Steps(); len(plan) != n {
		return fmt.Errorf("epoch %d: the sampler plans %d batches instead of %d", epoch, len(plan), n)
	}
	var marks [][]int32
	if r, ok := l.s.(RowLabels); ok {
		marks = r.RowLabels(epoch)
		if len(marks) != len(plan) {
			return fmt.Errorf("epoch %d: the sampler labels %d batches of %d", epoch, len(marks), len(plan))
		}
	}
	for b, ids := range plan {
		for p, id := range ids {
			if id < 0 || int(id) >= len(l.labels) {
				return fmt.Errorf("epoch %d, step %d, row %d: item %d of a dataset of %d", epoch, b, p, id, len(l.labels))
			}
		}
		if marks != nil && len(marks[b]) != len(ids) {
			return fmt.Errorf("epoch %d, step %d: the sampler labels %d rows of %d", epoch, b, len(marks[b]), len(ids))
		}
	}
	l.epoch, l.plan, l.marks = epoch, plan, marks
	return nil
}

// work makes one batch per token. A token for batch q is issued only when slot q
// mod ahead is empty, so sending never blocks.
func (l *Loader) work() {
	defer l.wg.Done()
	w := new(worker)
	for {
		select {
		case <-l.quit:
			return
		case <-l.tokens:
		}
		q, r := l.make(w)
		l.slots[q%len(l.slots)] <- r
	}
}

// make makes the next batch that nobody has claimed, and returns its number.
func (l *Loader) make(w *worker) (int, result) {
	at, err := l.claim()
	if err != nil {
		return at.q, result{err: err}
	}

	b := l.free.Get()
	if b.Images == nil {
		b.Images = array.New(len(at.ids), l.oh, l.ow, l.c)
	}
	b.Images.SetRows(len(at.ids))
	b.Epoch, b.Step = at.epoch, at.step
	b.Index = append(b.Index[:0], at.ids...)
	b.Labels = append(b.Labels[:0], at.marks...)
	for p, id := range at.ids {
		if err := l.row(w, b, p, int(id)); err != nil {
			l.free.Put(b)
			return at.q, result{err: fmt.Errorf("epoch %d, step %d, row %d: %s: %w", at.epoch, at.step, p, data.ItemName(l.ds, int(id)), err)}
		}
		if at.marks == nil {
			b.Labels = append(b.Labels, l.labels[id])
		}
	}
	return at.q, result{batch: b}
}

// place is a batch to be made.
type place struct {
	q, epoch, step int // q: its number since the loader began
	ids, marks     []int32
}

// claim takes the next place of the plans; q is set in any case.
func (l *Loader) claim() (place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := place{q: l.claimed}
	l.claimed++
	if l.step == len(l.plan) {
		if err := l.begin(l.epoch + 1); err != nil {
			return at, err
		}
		l.step = 0
	}
	at.epoch, at.step, at.ids = l.epoch, l.step, l.plan[l.step]
	if l.marks != nil {
		at.marks = l.marks[l.step]
	}
	l.step++
	return at, nil
}

// row reads item id into row p of b and transforms it.
func (l *Loader) row(w *worker, b *Batch, p, id int) error {
	if l.tf == nil {
		return l.read(id, b.Images.Row(p), b.Epoch, b.Step, p)
	}
	if w.img == nil {
		w.img = make([]float32, l.h*l.w*l.c)
		w.scratch = make([]float32, len(w.img))
	}
	if err := l.read(id, w.img, b.Epoch, b.Step, p); err != nil {
		return err
	}
	w.stream.Reset(l.seed, "augment", uint64(b.Epoch), uint64(b.Step), uint64(p))
	l.tf.Apply(w.img, w.scratch, l.h, l.w, l.c, &w.stream)
	copy(b.Images.Row(p), w.img)
	return nil
}

// read reads item id for a row of a batch.
func (l *Loader) read(id int, dst []float32, epoch, step, row int) error {
	if !l.anew {
		return l.ds.Read(id, dst)
	}
	return data.ReadAnew(l.ds, id, dst, data.Draw{Seed: l.seed, Epoch: epoch, Step: step, Row: row})
}

// Next returns the next batch, which the caller may keep or give to Recycle. It
// returns ctx's error when ctx ends first, and can then be called again. Any
// other error is final; it names epoch, step, item and file.
func (l *Loader) Next(ctx context.Context) (*Batch, error) {
	if l.err != nil {
		return nil, l.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-l.quit:
		return nil, ErrClosed
	default:
	}
	start := time.Now()
	defer func() { l.waited += time.Since(start) }()
	var r result
	if l.slots == nil {
		_, r = l.make(&l.local)
	} else {
		select {
		case r = <-l.slots[l.taken%len(l.slots)]:
		case <-l.quit:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		l.taken++
		l.tokens <- struct{}{}
	}
	l.err = r.err
	return r.batch, r.err
}

// Waited returns the total time that calls of Next took: the time in which training
// waited for input.
func (l *Loader) Waited() time.Duration { return l.waited }

// Recycle takes back a batch whose content is no longer needed; the caller must
// not use it afterwards.
func (l *Loader) Recycle(b *Batch) { l.free.Put(b) }

// Close stops the goroutines and waits for them. Batches that were handed out
// stay valid.
func (l *Loader) Close() {
	l.once.Do(func() { close(l.quit) })
	l.wg.Wait()
}
