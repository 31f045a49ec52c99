//go:build native && linux && (amd64 || arm64)

package mpi

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"tercet/internal/ranks"
)

// Native says whether this program can open an MPI library.
const Native = true

// library is an opened MPI library.
type library struct {
	name, version string
	world, octet  uintptr // handles of MPI_COMM_WORLD and MPI_BYTE

	initThread          func(argc, argv unsafe.Pointer, want int32, got *int32) int32
	rank, size          func(comm uintptr, out *int32) int32
	allgather, alltoall func(out unsafe.Pointer, n int32, t uintptr, in unsafe.Pointer, m int32, u uintptr, comm uintptr) int32
	abort               func(comm uintptr, code int32) int32
	finalize            func() int32
}

// funneled is MPI_THREAD_FUNNELED, of the same value in all libraries: one thread calls.
const funneled = 1

// open opens the first library that is there.
func open() (*library, error) {
	var tried []string
	for _, name := range candidates() {
		// Plug-ins of Open MPI look for the library's symbols among the global ones.
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return load(name, h)
		}
		tried = append(tried, err.Error())
	}
	return nil, fmt.Errorf("%w: install openmpi-bin or mpich (Debian's packages), or set %s to the path of its libmpi\n  %s", ErrNone, EnvLibrary, strings.Join(tried, "\n  "))
}

func load(name string, h uintptr) (*library, error) {
	l := &library{name: name}
	var version func(text *byte, n *int32) int32
	for _, f := range []struct {
		to   any
		name string
	}{
		{&l.initThread, "MPI_Init_thread"}, {&l.rank, "MPI_Comm_rank"}, {&l.size, "MPI_Comm_size"},
		{&l.allgather, "MPI_Allgather"}, {&l.alltoall, "MPI_Alltoall"},
		{&l.abort, "MPI_Abort"}, {&l.finalize, "MPI_Finalize"}, {&version, "MPI_Get_library_version"},
	} {
		at, err := purego.Dlsym(h, f.name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s has no %s: it is not an MPI library of version 3 or later", ErrNone, name, f.name)
		}
		purego.RegisterFunc(f.to, at)
	}
	text, n := make([]byte, 8192), int32(0)
	version(&text[0], &n)
	l.version, _, _ = strings.Cut(strings.TrimRight(string(text[:max(0, min(int(n), len(text)))]), "\x00\n "), "\n")
	l.version = strings.Join(strings.Fields(l.version), " ") // MPICH has a tab
	return l, l.identify(h)
}

// identify finds the two handles, by which family the library is of.
func (l *library) identify(h uintptr) error {
	if world, err := purego.Dlsym(h, "ompi_mpi_comm_world"); err == nil {
		l.world = world
		if l.octet, err = purego.Dlsym(h, "ompi_mpi_byte"); err != nil {
			return fmt.Errorf("%w: %s looks like Open MPI and has no ompi_mpi_byte", ErrNone, l.name)
		}
		return nil
	}
	if _, err := purego.Dlsym(h, "MPI_Abi_get_version"); err == nil && strings.Contains(l.name, "mpi_abi") {
		l.world, l.octet = 0x101, 0x247 // the standard interface of MPI 5
		return nil
	}
	for _, family := range []string{"MPICH", "Intel", "MVAPICH", "CRAY", "ParaStation"} {
		if strings.Contains(strings.ToUpper(l.version), strings.ToUpper(family)) {
			l.world, l.octet = 0x44000000, 0x4c00010d
			return nil
		}
	}
	return fmt.Errorf("%w: %s is %q, of an unknown kind: Open MPI, the MPICH family and libmpi_abi of MPI 5 are known", ErrNone, l.name, l.version)
}

// Look returns which MPI library would be opened, without starting it.
func Look() (string, error) {
	l, err := open()
	if err != nil {
		return "", err
	}
	return l.name + ": " + l.version, nil
}

// comm is a ranks.Comm. All calls are made by one goroutine on a thread of its own.
type comm struct {
	*library
	number, count int
	calls         chan func()
	done          chan struct{}
}

// Open starts MPI, which a process can do once.
func Open() (ranks.Comm, error) {
	l, err := open()
	if err != nil {
		return nil, err
	}
	c := &comm{library: l, calls: make(chan func()), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		for f := range c.calls {
			f()
			c.done <- struct{}{}
		}
	}()
	var rc, got, rank, size int32
	c.call(func() {
		keepSignals(func() { rc = l.initThread(nil, nil, funneled, &got) })
		if rc == 0 {
			l.rank(l.world, &rank)
			l.size(l.world, &size)
		}
	})
	if rc != 0 {
		return nil, fmt.Errorf("%w: MPI_Init_thread of %s returned %d", ErrNone, l.name, rc)
	}
	c.number, c.count = int(rank), int(size)
	if n, err := strconv.Atoi(launched()); err == nil && n > 1 && size == 1 {
		return nil, fmt.Errorf("%w for these ranks: the launcher has started %d processes and %s (%s) knows of one: it belongs to another MPI. Set %s to the launcher's library", ErrNone, n, l.name, l.version, EnvLibrary)
	}
	return c, nil
}

// call runs f on the thread that MPI knows.
func (c *comm) call(f func()) {
	c.calls <- f
	<-c.done
}

func (c *comm) Rank() int        { return c.number }
func (c *comm) Size() int        { return c.count }
func (c *comm) Describe() string { return c.version }

func (c *comm) Allgather(mine, all []byte) {
	n := count(len(mine))
	c.must("MPI_Allgather", func() int32 {
		return c.allgather(pointer(mine), n, c.octet, pointer(all), n, c.octet, c.world)
	})
}

func (c *comm) Alltoall(out, in []byte) {
	n := count(len(out) / c.count)
	c.must("MPI_Alltoall", func() int32 {
		return c.alltoall(pointer(out), n, c.octet, pointer(in), n, c.octet, c.world)
	})
}

// must makes a call. Libraries end the process where it fails, unless they were told
// otherwise.
func (c *comm) must(name string, f func() int32) {
	var rc int32
	c.call(func() { rc = f() })
	if rc != 0 {
		panic(fmt.Sprintf("mpi: %s returned %d", name, rc))
	}
}

func count(n int) int32 {
	if n > math.MaxInt32 {
		panic(fmt.Sprintf("mpi: a message of %d bytes for each rank; at most %d can be sent: take more ranks", n, math.MaxInt32))
	}
	return int32(n)
}

func pointer(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// Abort ends the job. Where the thread of MPI waits for a rank that will not come, this
// process exits, and the launcher ends the others.
func (c *comm) Abort(code int) {
	select {
	case c.calls <- func() { c.abort(c.world, int32(code)) }:
		time.Sleep(time.Second) // it ends this process, too
	case <-time.After(100 * time.Millisecond):
	}
	os.Exit(code)
}

// Close waits for all ranks.
func (c *comm) Close() error {
	var rc int32
	c.call(func() { rc = c.finalize() })
	if rc != 0 {
		return fmt.Errorf("mpi: MPI_Finalize returned %d", rc)
	}
	return nil
}
