// Package ranks lets several processes work on one run: a few collective calls on bytes,
// which move numbers and add none. MPI is behind them, or, in tests, goroutines.
package ranks

import (
	"fmt"
	"unsafe"
)

// Comm connects the ranks of a job. Every rank makes the same calls in the same order,
// from one goroutine at a time. A call that cannot be completed does not return: it
// panics with *LostError, or the MPI library ends the process.
type Comm interface {
	// Rank returns the number of this process, from 0 to Size-1.
	Rank() int
	Size() int
	// Describe says what connects the ranks, such as the name of an MPI library.
	Describe() string
	// Allgather sets all to the bytes of every rank, by rank. All give as many.
	Allgather(mine, all []byte)
	// Alltoall sends part i of out, of Size equal parts, to rank i; in becomes the parts
	// that are sent to this rank, by rank.
	Alltoall(out, in []byte)
	// Abort ends all ranks, which need not make the same call. This process does not
	// exit with code 0.
	Abort(code int)
	// Close ends the connection, after all ranks have called it.
	Close() error
}

// LostError says that a rank has ended while the others needed it.
type LostError struct {
	Rank int
	Self string // which process it was
}

func (e *LostError) Error() string { return fmt.Sprintf("rank %d (%s) has ended", e.Rank, e.Self) }

// Number is what can be sent as its bytes between processes of one architecture.
type Number interface {
	~uint8 | ~uint64 | ~int64 | ~float32 | ~float64
}

// Bytes is the memory of x.
func Bytes[T Number](x []T) []byte {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(x[0])))
}

// Share gives all ranks the bytes that rank 0 has; those of others are not read.
func Share(c Comm, data []byte) []byte {
	n := []int64{int64(len(data))}
	sizes := make([]int64, c.Size())
	c.Allgather(Bytes(n), Bytes(sizes))
	size := int(sizes[0])
	// Each rank gives the part of its number, of which only rank 0 has the bytes: it
	// sends them with Alltoall, and all pass them on.
	part := (size + c.Size() - 1) / c.Size()
	out, in := make([]byte, part*c.Size()), make([]byte, part*c.Size())
	if c.Rank() == 0 {
		copy(out, data)
	}
	c.Alltoall(out, in)
	all := out
	c.Allgather(in[:part], all)
	return all[:size]
}

// Strings returns the text of every rank, by rank.
func Strings(c Comm, mine string) []string {
	sizes := make([]int64, c.Size())
	c.Allgather(Bytes([]int64{int64(len(mine))}), Bytes(sizes))
	longest := int64(0)
	for _, n := range sizes {
		longest = max(longest, n)
	}
	own := make([]byte, longest)
	copy(own, mine)
	all := make([]byte, int(longest)*c.Size())
	c.Allgather(own, all)
	out := make([]string, c.Size())
	for i, n := range sizes {
		at := i * int(longest)
		out[i] = string(all[at : at+int(n)])
	}
	return out
}
