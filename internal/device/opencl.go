//go:build native && linux && (amd64 || arm64)

package device

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// clCalls are the functions of OpenCL 1.2 that are needed. Handles and sizes are uintptr.
type clCalls struct {
	Platforms    func(n uint32, ids *uintptr, got *uint32) int32                                                                  `symbol:"clGetPlatformIDs"`
	PlatformInfo func(p uintptr, what uint32, size uintptr, out unsafe.Pointer, got *uintptr) int32                               `symbol:"clGetPlatformInfo"`
	Devices      func(p uintptr, kind uint64, n uint32, ids *uintptr, got *uint32) int32                                          `symbol:"clGetDeviceIDs"`
	DeviceInfo   func(d uintptr, what uint32, size uintptr, out unsafe.Pointer, got *uintptr) int32                               `symbol:"clGetDeviceInfo"`
	NewContext   func(props uintptr, n uint32, d *uintptr, callback, user uintptr, rc *int32) uintptr                             `symbol:"clCreateContext"`
	NewQueue     func(c, d uintptr, props uint64, rc *int32) uintptr                                                              `symbol:"clCreateCommandQueue"`
	NewProgram   func(c uintptr, n uint32, text *uintptr, sizes *uintptr, rc *int32) uintptr                                      `symbol:"clCreateProgramWithSource"`
	Build        func(p uintptr, n uint32, d *uintptr, options string, callback, user uintptr) int32                              `symbol:"clBuildProgram"`
	BuildInfo    func(p, d uintptr, what uint32, size uintptr, out unsafe.Pointer, got *uintptr) int32                            `symbol:"clGetProgramBuildInfo"`
	NewKernel    func(p uintptr, name string, rc *int32) uintptr                                                                  `symbol:"clCreateKernel"`
	SetArg       func(k uintptr, i uint32, size uintptr, v unsafe.Pointer) int32                                                  `symbol:"clSetKernelArg"`
	NewBuffer    func(c uintptr, flags uint64, size, host uintptr, rc *int32) uintptr                                             `symbol:"clCreateBuffer"`
	FreeBuffer   func(b uintptr) int32                                                                                            `symbol:"clReleaseMemObject"`
	Launch       func(q, k uintptr, dims uint32, offset uintptr, global, local *uintptr, n uint32, wait, event uintptr) int32     `symbol:"clEnqueueNDRangeKernel"`
	Read         func(q, b uintptr, block uint32, offset, size uintptr, out unsafe.Pointer, n uint32, wait, event uintptr) int32  `symbol:"clEnqueueReadBuffer"`
	Write        func(q, b uintptr, block uint32, offset, size uintptr, from unsafe.Pointer, n uint32, wait, event uintptr) int32 `symbol:"clEnqueueWriteBuffer"`
	Finish       func(q uintptr) int32                                                                                            `symbol:"clFinish"`
	FreeContext  func(c uintptr) int32                                                                                            `symbol:"clReleaseContext"`
	FreeQueue    func(q uintptr) int32                                                                                            `symbol:"clReleaseCommandQueue"`
}

// Numbers of the OpenCL header.
const (
	clAnyDevice        = 0xFFFFFFFF
	clDeviceName       = 0x102B
	clDriverVersion    = 0x102D
	clDeviceExtensions = 0x1030
	clGlobalMemory     = 0x101F
	clPlatformName     = 0x0902
	clBuildLog         = 0x1183
	clReadWrite        = 1
)

// clNames are the codes that users meet, and what to do.
var clNames = map[int32]string{
	-1:  "CL_DEVICE_NOT_FOUND",
	-2:  "CL_DEVICE_NOT_AVAILABLE",
	-4:  "CL_MEM_OBJECT_ALLOCATION_FAILURE: the device is out of memory; take a smaller batch",
	-5:  "CL_OUT_OF_RESOURCES: the device has failed or is out of memory; take a smaller batch, or start the same command again, which resumes from the last checkpoint",
	-6:  "CL_OUT_OF_HOST_MEMORY",
	-11: "CL_BUILD_PROGRAM_FAILURE",
	-36: "CL_INVALID_COMMAND_QUEUE: the device was lost; start the same command again, which resumes from the last checkpoint",
	-46: "CL_INVALID_KERNEL_NAME: the driver has built no such kernel",
	-54: "CL_INVALID_WORK_GROUP_SIZE: the device cannot run groups of 256 work items",
	-61: "CL_INVALID_BUFFER_SIZE: the device is out of memory; take a smaller batch",
}

// cl is an OpenCL device.
type cl struct {
	clCalls
	info           Info
	device         uintptr
	context, queue uintptr
	program        uintptr
	kernels        map[string]uintptr
}

// clBuffer is a memory object.
type clBuffer struct {
	handle uintptr
	bytes  int
}

func (b *clBuffer) Bytes() int { return b.bytes }

// loadCL opens the library and finds all devices of all platforms.
func loadCL() (c clCalls, devices []uintptr, infos []Info, err error) {
	lib, h, err := library(EnvOpenCL, []string{"libOpenCL.so.1", "libnvidia-opencl.so.1"},
		"no OpenCL library can be opened: install ocl-icd-libopencl1 and the driver of the device (pocl-opencl-icd is one for the CPU)")
	if err != nil {
		return c, nil, nil, err
	}
	if err := bind(lib, h, &c); err != nil {
		return c, nil, nil, err
	}
	var n uint32
	platforms := make([]uintptr, 64)
	if rc := c.Platforms(uint32(len(platforms)), &platforms[0], &n); rc != 0 || n == 0 {
		return c, nil, nil, fmt.Errorf("%w: OpenCL (%s) knows of no platform: install the driver of the device (Debian: pocl-opencl-icd for the CPU, nvidia-opencl-icd, mesa-opencl-icd)", ErrNone, lib)
	}
	for _, p := range platforms[:min(int(n), len(platforms))] {
		found := make([]uintptr, 64)
		var n uint32
		if c.Devices(p, clAnyDevice, uint32(len(found)), &found[0], &n) != 0 {
			continue
		}
		for _, d := range found[:min(int(n), len(found))] {
			infos = append(infos, Info{Name: fmt.Sprintf("%s:%d", OpenCL, len(devices)), Device: clText(c.DeviceInfo, d, clDeviceName), Kernels: digest(source),
				Driver: fmt.Sprintf("%s %s", clText(c.PlatformInfo, p, clPlatformName), clText(c.DeviceInfo, d, clDriverVersion)), Memory: c.memory(d)})
			devices = append(devices, d)
		}
	}
	return c, devices, infos, nil
}

func (c *clCalls) memory(d uintptr) (bytes int64) {
	c.DeviceInfo(d, clGlobalMemory, 8, unsafe.Pointer(&bytes), nil)
	return bytes
}

// clText is a text that info tells of a handle.
func clText(info func(uintptr, uint32, uintptr, unsafe.Pointer, *uintptr) int32, of uintptr, what uint32) string {
	out := make([]byte, 1<<14)
	var n uintptr
	if info(of, what, uintptr(len(out)), unsafe.Pointer(&out[0]), &n) != 0 {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(out[:min(int(n), len(out))]), "\x00"))
}

func listOpenCL() ([]Info, error) {
	_, _, infos, err := loadCL()
	return infos, err
}

func openCL(number int) (Device, error) {
	calls, devices, infos, err := loadCL()
	if err != nil {
		return nil, err
	}
	if number >= len(devices) {
		return nil, noSuch(OpenCL, number)
	}
	c := &cl{clCalls: calls, info: infos[number], device: devices[number], kernels: map[string]uintptr{}}
	if !strings.Contains(clText(c.DeviceInfo, c.device, clDeviceExtensions), "cl_khr_fp64") {
		return nil, fmt.Errorf("%w: %s (%s) has no float64 (cl_khr_fp64), which statistics are summed in", ErrNone, c.info.Name, c.info.Device)
	}
	var rc int32
	if c.context = c.NewContext(0, 1, &c.device, 0, 0, &rc); rc != 0 {
		return nil, c.failed("clCreateContext", rc)
	}
	if c.queue = c.NewQueue(c.context, c.device, 0, &rc); rc != 0 {
		return nil, c.failed("clCreateCommandQueue", rc)
	}
	text := append(append([]byte(nil), source...), 0)
	at := uintptr(unsafe.Pointer(&text[0]))
	c.program = c.NewProgram(c.context, 1, &at, nil, &rc)
	runtime.KeepAlive(text)
	if rc != 0 {
		return nil, c.failed("clCreateProgramWithSource", rc)
	}
	if rc := c.Build(c.program, 1, &c.device, "-cl-std=CL1.2", 0, 0); rc != 0 {
		log := make([]byte, 1<<16)
		var n uintptr
		c.BuildInfo(c.program, c.device, clBuildLog, uintptr(len(log)), unsafe.Pointer(&log[0]), &n)
		return nil, fmt.Errorf("%w\n%s", c.failed("clBuildProgram", rc), strings.TrimRight(string(log[:min(int(n), len(log))]), "\x00\n"))
	}
	return c, nil
}

func (c *cl) failed(call string, rc int32) error {
	text, ok := clNames[rc]
	if !ok {
		text = "see the codes in CL/cl.h"
	}
	return &Error{c.info.Name, call, int(rc), text}
}

// done is nil, or the error of a call.
func (c *cl) done(call string, rc int32) error {
	if rc == 0 {
		return nil
	}
	return c.failed(call, rc)
}

func (c *cl) Info() Info { return c.info }

func (c *cl) Alloc(bytes int) (Buffer, error) {
	var rc int32
	h := c.NewBuffer(c.context, clReadWrite, uintptr(max(bytes, 8)), 0, &rc)
	return &clBuffer{h, bytes}, c.done(fmt.Sprintf("clCreateBuffer of %d bytes", bytes), rc)
}

func (c *cl) Free(b Buffer) { c.FreeBuffer(b.(*clBuffer).handle) }

func (c *cl) Upload(to Buffer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	return c.done("clEnqueueWriteBuffer", c.Write(c.queue, to.(*clBuffer).handle, 1, 0, uintptr(len(from)), unsafe.Pointer(&from[0]), 0, 0, 0))
}

func (c *cl) Download(to []byte, from Buffer) error {
	if len(to) == 0 {
		return nil
	}
	return c.done("clEnqueueReadBuffer", c.Read(c.queue, from.(*clBuffer).handle, 1, 0, uintptr(len(to)), unsafe.Pointer(&to[0]), 0, 0, 0))
}

func (c *cl) Launch(kernel string, grid, group [3]int, args ...any) error {
	k, ok := c.kernels[kernel]
	if !ok {
		var rc int32
		if k = c.NewKernel(c.program, kernel, &rc); rc != 0 {
			return c.failed("clCreateKernel "+kernel, rc)
		}
		c.kernels[kernel] = k
	}
	for i, a := range args {
		var rc int32
		switch a := a.(type) {
		case int:
			v := int32(a)
			rc = c.SetArg(k, uint32(i), 4, unsafe.Pointer(&v))
		case float32:
			rc = c.SetArg(k, uint32(i), 4, unsafe.Pointer(&a))
		case float64:
			rc = c.SetArg(k, uint32(i), 8, unsafe.Pointer(&a))
		case *clBuffer:
			rc = c.SetArg(k, uint32(i), 8, unsafe.Pointer(&a.handle))
		case nil:
			var none uintptr
			rc = c.SetArg(k, uint32(i), 8, unsafe.Pointer(&none))
		default:
			panic(fmt.Sprintf("device: argument %d of %s is a %T", i, kernel, a))
		}
		if rc != 0 {
			return c.failed(fmt.Sprintf("clSetKernelArg %d of %s", i, kernel), rc)
		}
	}
	var global, local [3]uintptr
	for i := range grid {
		global[i], local[i] = uintptr(grid[i]*group[i]), uintptr(group[i])
	}
	return c.done("clEnqueueNDRangeKernel "+kernel, c.clCalls.Launch(c.queue, k, 3, 0, &global[0], &local[0], 0, 0, 0))
}

func (c *cl) Sync() error { return c.done("clFinish", c.Finish(c.queue)) }

func (c *cl) Close() error {
	c.FreeQueue(c.queue)
	return c.done("clReleaseContext", c.FreeContext(c.context))
}
