package pages

import "golang.org/x/sys/unix"

// large is the size of a large page on amd64, and on arm64 with pages of 4 KiB. Where they are
// of another size, the advice has less effect or none.
const large = 2 << 20

// advise marks all large pages of the range. Go's heap is mapped in aligned areas that are
// multiples of them, so no mark leaves it; a mark outlives the array, as its area does. A
// kernel without large pages refuses, which is no error.
func advise(from, size uintptr) {
	end := (from + size + large - 1) / large * large
	from = from / large * large
	_, _, _ = unix.RawSyscall(unix.SYS_MADVISE, from, end-from, unix.MADV_HUGEPAGE)
}
