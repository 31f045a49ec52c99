//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"tercet/internal/device"
	"tercet/internal/engine/nn"
)

// queue is the opened device: what its users share. Calls of several networks take turns.
type queue struct {
	sync.Mutex
	device.Device

	leaving sync.Mutex
	left    []device.Buffer // of networks that are gone, still on the device
}

// alloc allocates memory that the device gets back when nothing of this program refers to it
// any more: a sweep trains many networks in one process.
func (q *queue) alloc(bytes int) (device.Buffer, error) {
	q.collect()
	at, err := q.Alloc(bytes)
	if err != nil {
		runtime.GC()
		time.Sleep(collecting)
		if q.collect() > 0 {
			at, err = q.Alloc(bytes)
		}
	}
	if err == nil {
		runtime.SetFinalizer(at, q.leave)
	}
	return at, err
}

// collecting is how long the runtime may take to find what a network that is gone has left.
const collecting = 50 * time.Millisecond

// leave notes a buffer to be freed: only the owner of the queue may call the device.
func (q *queue) leave(b device.Buffer) {
	q.leaving.Lock()
	defer q.leaving.Unlock()
	q.left = append(q.left, b)
}

// collect frees what has been left, and returns how many buffers these were.
func (q *queue) collect() int {
	q.leaving.Lock()
	defer q.leaving.Unlock()
	n := len(q.left)
	for _, b := range q.left {
		q.Free(b)
	}
	q.left = nil
	return n
}

// must panics with the error of a device.
func must(err error) {
	if err != nil {
		panic(&nn.EngineError{Err: err})
	}
}

// each runs a kernel over n numbers.
func (q *queue) each(kernel string, n int, args ...any) {
	if n == 0 {
		return
	}
	grid, group := device.Each(n)
	must(q.Launch(kernel, grid, group, append([]any{n}, args...)...))
}

// rows runs a kernel that has one group of 64 for each row.
func (q *queue) rows(kernel string, n int, args ...any) {
	must(q.Launch(kernel, [3]int{n, 1, 1}, [3]int{64, 1, 1}, args...))
}

// buffer is memory of a device that grows. The zero buffer has none.
type buffer struct {
	at device.Buffer
}

// need makes b hold at least so many numbers of size bytes, of undefined content.
func (b *buffer) need(q *queue, n, size int) device.Buffer {
	if n > math.MaxInt32 {
		must(fmt.Errorf("device %s: a layer's output has %d numbers, over the limit of %d: use a smaller batch", q.Info().Name, n, math.MaxInt32))
	}
	if b.at == nil || b.at.Bytes() < n*size {
		b.free(q)
		at, err := q.alloc(n * size)
		must(err)
		b.at = at
	}
	return b.at
}

func (b *buffer) free(q *queue) {
	if b.at != nil {
		runtime.SetFinalizer(b.at, nil)
		q.Free(b.at)
		b.at = nil
	}
}

// bytes is the memory of x.
func bytes[T float32 | float64 | int32](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// mirror is an array in memory with a copy on the device. At most one of the two is newer.
type mirror struct {
	memory           []float32
	copy             buffer
	changed, fetched bool // the array in memory may be newer; the copy has not changed since it was fetched
}

func newMirror(x []float32) *mirror { return &mirror{memory: x, changed: true, fetched: true} }

// use returns the copy, after an upload where memory is newer. write says that the caller
// will change it.
func (m *mirror) use(q *queue, write bool) device.Buffer {
	at := m.copy.need(q, len(m.memory), 4)
	if m.changed {
		must(q.Upload(at, bytes(m.memory)))
		m.changed, m.fetched = false, true
	}
	if write {
		m.fetched = false
	}
	return at
}

// fetch makes the array in memory the newer one, which its owner may change.
func (m *mirror) fetch(q *queue) {
	if !m.fetched {
		must(q.Download(bytes(m.memory), m.copy.at))
		m.fetched = true
	}
	m.changed = true
}
