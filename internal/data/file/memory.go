package file

import (
	"math"
	"sync/atomic"

	"tercet/internal/data/fault"
)

// most bounds what a dataset may take in memory, in bytes: 64 GiB, or on 32-bit machines
// all that an index reaches, until LimitMemory.
var most atomic.Int64

func init() { most.Store(min(1<<36, math.MaxInt)) }

// LimitMemory makes datasets that take more than so many bytes an error, where that is
// below the limit that holds already: a program that asks the system for more than it
// has is ended by it.
func LimitMemory(bytes int64) { most.Store(min(most.Load(), bytes)) }

// MaxBytes is the bound on the memory of a dataset.
func MaxBytes() int64 { return most.Load() }

// CheckTotal returns an error unless n images of size bytes fit in MaxBytes.
func CheckTotal(n, size int) error {
	if n > 0 && int64(size) > MaxBytes()/int64(n) {
		return fault.Unfit("%d images of %d bytes need %.1f GiB of memory, and at most %.1f are taken; ask for a smaller size", n, size, float64(n)*float64(size)/(1<<30), float64(MaxBytes())/(1<<30))
	}
	return nil
}
