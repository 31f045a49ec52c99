// Package device runs the kernels of kernels.dev on devices, through a driver that is opened
// when it is asked for: opencl (any OpenCL 1.2 platform with float64; pocl is one on the CPU)
// or cuda (the driver library of NVIDIA). Nothing of either is needed to build the program.
// It needs the build tag native, which makes the program a dynamic executable; without it
// all calls return ErrStatic.
//
// A device has one queue: what is launched is done in order. Every call may fail, and none
// falls back to the CPU.
package device

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The drivers.
const (
	OpenCL = "opencl"
	CUDA   = "cuda"
	CPU    = "cpu" // none: the kernels of the program itself
)

// EnvOpenCL and EnvCUDA in the environment name the libraries to open.
const (
	EnvOpenCL = "TERCET_OPENCL"
	EnvCUDA   = "TERCET_CUDA"
)

// ErrStatic says that this program was built without drivers.
var ErrStatic = errors.New("this is the static build of tercet, which cannot open the library of a device's driver; take tercet-native, which `make native` builds")

// ErrNone is wrapped where there is no library, no device of that number, or none that fits.
var ErrNone = errors.New("no such device can be used")

// Buffer is memory of a device.
type Buffer interface{ Bytes() int }

// Device is an opened device. It serves one goroutine at a time.
type Device interface {
	Info() Info
	// Alloc returns so many bytes, of undefined content.
	Alloc(bytes int) (Buffer, error)
	Free(Buffer)
	// Upload and Download copy all of one side, which begins the other. Both wait.
	Upload(to Buffer, from []byte) error
	Download(to []byte, from Buffer) error
	// Launch runs a kernel by grid groups of group work items each. Arguments are int,
	// float32, float64 and Buffer, in the kernel's order; a nil Buffer is a null pointer.
	Launch(kernel string, grid, group [3]int, args ...any) error
	// Sync waits for all that was launched, and returns what went wrong.
	Sync() error
	Close() error
}

// Info describes a device.
type Info struct {
	Name    string // as in a config: opencl:0
	Device  string // the vendor's name
	Driver  string // library and version
	Memory  int64  // bytes
	Kernels string // SHA-256 of what the driver is given as kernels, shortened
	Warning string // what is to be known about this driver, or empty
}

// Setting names what computes, for manifests.
func (i Info) Setting() string {
	return fmt.Sprintf("%s %s fp32 (kernels %s; %s)", i.Name, i.Device, i.Kernels, i.Driver)
}

// Words tell users what computes; none on the processor.
func (i Info) Words() (lines []string) {
	if i.Name != "" {
		lines = append(lines, "the network computes on "+i.Setting())
	}
	if i.Warning != "" {
		lines = append(lines, "warning: "+i.Warning)
	}
	return lines
}

// Parse splits opencl or cuda, with :N for a device other than the first, into the driver
// and N; cpu and the empty name are CPU.
func Parse(name string) (driver string, number int, err error) {
	driver, n, numbered := strings.Cut(name, ":")
	if numbered {
		number, err = strconv.Atoi(n)
	}
	switch {
	case name == "" || name == CPU:
		return CPU, 0, nil
	case driver != OpenCL && driver != CUDA, err != nil || number < 0 || numbered && strconv.Itoa(number) != n:
		return "", 0, fmt.Errorf("unknown device %q (valid: cpu, opencl, cuda, and opencl:1, cuda:1 and so on for further devices)", name)
	}
	return driver, number, nil
}
