//go:build native && linux && (amd64 || arm64)

package device

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"
)

// cuCalls are the functions of NVIDIA's driver library that are needed.
type cuCalls struct {
	Init         func(flags uint32) int32                                                                                         `symbol:"cuInit"`
	Version      func(out *int32) int32                                                                                           `symbol:"cuDriverGetVersion"`
	Count        func(out *int32) int32                                                                                           `symbol:"cuDeviceGetCount"`
	Device       func(out *int32, number int32) int32                                                                             `symbol:"cuDeviceGet"`
	DeviceName   func(out *byte, n int32, d int32) int32                                                                          `symbol:"cuDeviceGetName"`
	TotalMemory  func(out *uintptr, d int32) int32                                                                                `symbol:"cuDeviceTotalMem_v2"`
	Retain       func(out *uintptr, d int32) int32                                                                                `symbol:"cuDevicePrimaryCtxRetain"`
	Release      func(d int32) int32                                                                                              `symbol:"cuDevicePrimaryCtxRelease_v2"`
	SetCurrent   func(c uintptr) int32                                                                                            `symbol:"cuCtxSetCurrent"`
	Synchronize  func() int32                                                                                                     `symbol:"cuCtxSynchronize"`
	Load         func(out *uintptr, image *byte) int32                                                                            `symbol:"cuModuleLoadData"`
	Function     func(out *uintptr, module uintptr, name string) int32                                                            `symbol:"cuModuleGetFunction"`
	NewBuffer    func(out *uintptr, bytes uintptr) int32                                                                          `symbol:"cuMemAlloc_v2"`
	FreeBuffer   func(b uintptr) int32                                                                                            `symbol:"cuMemFree_v2"`
	Write        func(to uintptr, from unsafe.Pointer, n uintptr) int32                                                           `symbol:"cuMemcpyHtoD_v2"`
	Read         func(to unsafe.Pointer, from uintptr, n uintptr) int32                                                           `symbol:"cuMemcpyDtoH_v2"`
	LaunchKernel func(f uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, args unsafe.Pointer, extra uintptr) int32 `symbol:"cuLaunchKernel"`
	ErrorName    func(rc int32, out *uintptr) int32                                                                               `symbol:"cuGetErrorName"`
}

// Untested is said whenever the driver cuda is used.
const Untested = "the driver cuda has never run on a GPU: its kernels are those that are tested through OpenCL, compiled by clang; compare a run with the CPU's before you trust it"

// cuHints say what to do about codes that users meet.
var cuHints = map[int32]string{
	2:   "the device is out of memory; take a smaller batch",
	100: "there is no GPU",
	209: "the GPU is older than the kernels were compiled for (compute capability 7.0)",
	218: "the driver cannot read the kernels' PTX: it is too old for this program",
	222: "the driver is too old for the kernels' PTX",
	500: "the driver has no such kernel",
	700: "a kernel went wrong; start the same command again, which resumes from the last checkpoint",
	719: "the device was lost; start the same command again, which resumes from the last checkpoint",
	999: "the driver does not know why",
}

// cuda is a GPU of NVIDIA.
type cuda struct {
	cuCalls
	info     Info
	device   int32
	context  uintptr
	module   uintptr
	kernels  map[string]uintptr
	pointers []unsafe.Pointer
}

// cuBuffer is an address on the device.
type cuBuffer struct {
	address uintptr
	bytes   int
}

func (b *cuBuffer) Bytes() int { return b.bytes }

// loadCUDA opens the library and describes all devices.
func loadCUDA() (c cuCalls, infos []Info, err error) {
	lib, h, err := library(EnvCUDA, []string{"libcuda.so.1"}, "NVIDIA's driver library cannot be opened: install the driver of the GPU (Debian: nvidia-driver)")
	if err != nil {
		return c, nil, err
	}
	if err := bind(lib, h, &c); err != nil {
		return c, nil, err
	}
	var n, version int32
	if rc := c.Init(0); rc != 0 {
		return c, nil, fmt.Errorf("%w: %w", ErrNone, c.failed(CUDA, "cuInit", rc))
	}
	c.Version(&version)
	if rc := c.Count(&n); rc != 0 {
		return c, nil, fmt.Errorf("%w: %w", ErrNone, c.failed(CUDA, "cuDeviceGetCount", rc))
	}
	for i := range n {
		var d int32
		var memory uintptr
		name := make([]byte, 256)
		c.Device(&d, i)
		c.DeviceName(&name[0], int32(len(name)), d)
		c.TotalMemory(&memory, d)
		name, _, _ = bytes.Cut(name, []byte{0})
		infos = append(infos, Info{Name: fmt.Sprintf("%s:%d", CUDA, i), Device: string(name), Kernels: digest(ptx), Memory: int64(memory),
			Driver: fmt.Sprintf("%s CUDA %d.%d", lib, version/1000, version%1000/10), Warning: Untested})
	}
	return c, infos, nil
}

func listCUDA() ([]Info, error) {
	_, infos, err := loadCUDA()
	return infos, err
}

func openCUDA(number int) (Device, error) {
	calls, infos, err := loadCUDA()
	if err != nil {
		return nil, err
	}
	if number >= len(infos) {
		return nil, noSuch(CUDA, number)
	}
	c := &cuda{cuCalls: calls, info: infos[number], kernels: map[string]uintptr{}}
	if err := c.done("cuDeviceGet", c.Device(&c.device, int32(number))); err != nil {
		return nil, err
	}
	if err := c.done("cuDevicePrimaryCtxRetain", c.Retain(&c.context, c.device)); err != nil {
		return nil, err
	}
	text := append(append([]byte(nil), ptx...), 0)
	return c, c.call("cuModuleLoadData", func() int32 { return c.Load(&c.module, &text[0]) })
}

// failed is the error of a call.
func (c *cuCalls) failed(device, call string, rc int32) error {
	var at uintptr
	text := "CUDA_ERROR"
	if c.ErrorName(rc, &at) == 0 && at != 0 {
		text = goString(at)
	}
	if hint, ok := cuHints[rc]; ok {
		text += ": " + hint
	}
	return &Error{device, call, int(rc), text}
}

// goString copies the text at an address of the driver.
func goString(at uintptr) string {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	var out []byte
	for i := 0; i < 256; i++ {
		b := *(*byte)(unsafe.Add(p, i))
		if b == 0 {
			break
		}
		out = append(out, b)
	}
	return string(out)
}

func (c *cuda) done(call string, rc int32) error {
	if rc == 0 {
		return nil
	}
	return c.failed(c.info.Name, call, rc)
}

// call runs f on a thread that the context of the device belongs to.
func (c *cuda) call(name string, f func() int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if rc := c.SetCurrent(c.context); rc != 0 {
		return c.done("cuCtxSetCurrent", rc)
	}
	return c.done(name, f())
}

func (c *cuda) Info() Info { return c.info }

func (c *cuda) Alloc(bytes int) (Buffer, error) {
	b := &cuBuffer{bytes: bytes}
	return b, c.call(fmt.Sprintf("cuMemAlloc of %d bytes", bytes), func() int32 { return c.NewBuffer(&b.address, uintptr(max(bytes, 8))) })
}

func (c *cuda) Free(b Buffer) {
	_ = c.call("cuMemFree", func() int32 { return c.FreeBuffer(b.(*cuBuffer).address) }) // a lost device shows at the next call
}

func (c *cuda) Upload(to Buffer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return c.call("cuMemcpyHtoD", func() int32 { return c.Write(to.(*cuBuffer).address, unsafe.Pointer(&from[0]), uintptr(len(from))) })
}

func (c *cuda) Download(to []byte, from Buffer) error {
	if len(to) == 0 {
		return nil
	}
	return c.call("cuMemcpyDtoH", func() int32 { return c.Read(unsafe.Pointer(&to[0]), from.(*cuBuffer).address, uintptr(len(to))) })
}

func (c *cuda) Launch(kernel string, grid, group [3]int, args ...any) error {
	f, ok := c.kernels[kernel]
	if !ok {
		if err := c.call("cuModuleGetFunction "+kernel, func() int32 { return c.Function(&f, c.module, kernel) }); err != nil {
			return err
		}
		c.kernels[kernel] = f
	}
	for i := range grid {
		if most := [3]int{1<<31 - 1, 1<<16 - 1, 1<<16 - 1}[i]; grid[i] > most {
			return fmt.Errorf("device %s: %s needs %d groups along axis %d, and CUDA has at most %d: use a smaller batch", c.info.Name, kernel, grid[i], i, most)
		}
	}
	var pin runtime.Pinner // what the driver reads by addresses within the list
	defer pin.Unpin()
	c.pointers = c.pointers[:0]
	for i, a := range args {
		value := new(uint64) // its first bytes are the argument's
		switch a := a.(type) {
		case int:
			*(*int32)(unsafe.Pointer(value)) = int32(a)
		case float32:
			*(*float32)(unsafe.Pointer(value)) = a
		case float64:
			*(*float64)(unsafe.Pointer(value)) = a
		case *cuBuffer:
			*value = uint64(a.address)
		case nil:
		default:
			panic(fmt.Sprintf("device: argument %d of %s is a %T", i, kernel, a))
		}
		pin.Pin(value)
		c.pointers = append(c.pointers, unsafe.Pointer(value))
	}
	pin.Pin(&c.pointers[0])
	return c.call("cuLaunchKernel "+kernel, func() int32 {
		return c.LaunchKernel(f, uint32(grid[0]), uint32(grid[1]), uint32(grid[2]), uint32(group[0]), uint32(group[1]), uint32(group[2]), 0, 0, unsafe.Pointer(&c.pointers[0]), 0)
	})
}

func (c *cuda) Sync() error { return c.call("cuCtxSynchronize", c.Synchronize) }

func (c *cuda) Close() error { return c.done("cuDevicePrimaryCtxRelease", c.Release(c.device)) }
