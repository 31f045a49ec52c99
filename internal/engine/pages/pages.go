// Package pages asks the system to back large arrays with large pages of memory.
//
// A processor keeps the addresses of some 2,000 pages in a table. With pages of 4 KiB these are
// 8 MiB, less than the weights of one linear layer; what lies outside costs a walk through
// tables, a longer one in a virtual machine. Where transparent huge pages are set to "madvise",
// Linux gives pages of 2 MiB only to memory that asks for them.
package pages

import "unsafe"

// least is the size in bytes from which an array asks.
const least = 1 << 20

// Make returns n zeros. Where they take 1 MiB or more, the system may back them, and what
// shares their first and last large page, with large pages; where it cannot, nothing changes.
// No result depends on it.
func Make[T number](n int) []T {
	x := make([]T, n)
	if size := uintptr(n) * unsafe.Sizeof(*new(T)); size >= least {
		advise(uintptr(unsafe.Pointer(unsafe.SliceData(x))), size)
	}
	return x
}

type number interface {
	~float32 | ~float64 | ~int32 | ~uint16
}
