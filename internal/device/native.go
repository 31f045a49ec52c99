//go:build native && linux && (amd64 || arm64)

package device

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/ebitengine/purego"
)

// Native says whether this program can open drivers.
const Native = true

//go:embed kernels.dev
var source []byte

//go:embed kernels.ptx
var ptx []byte

// Open opens the device of that name; see Parse.
func Open(name string) (Device, error) {
	driver, number, err := Parse(name)
	switch {
	case err != nil:
		return nil, err
	case driver == OpenCL:
		return openCL(number)
	case driver == CUDA:
		return openCUDA(number)
	}
	return nil, fmt.Errorf("%w: %s is not a device of a driver", ErrNone, name)
}

// List describes the devices of both drivers, and says why a driver has none.
func List() (all []Info, errs []error) {
	for _, list := range []func() ([]Info, error){listOpenCL, listCUDA} {
		found, err := list()
		all = append(all, found...)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return all, errs
}

// noSuch is the error of a number that no device has.
func noSuch(driver string, number int) error {
	return fmt.Errorf("%w: %s:%d not found; `tercet device list` lists the available devices", ErrNone, driver, number)
}

// digest is the short hash of kernels.
func digest(kernels []byte) string {
	sum := sha256.Sum256(kernels)
	return fmt.Sprintf("%x", sum[:6])
}

// library opens the first of these shared libraries, or the one that the environment names.
func library(env string, names []string, hint string) (name string, handle uintptr, err error) {
	if own := os.Getenv(env); own != "" {
		names = []string{own}
	}
	var tried []string
	for _, name := range names {
		if handle, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			return name, handle, nil
		}
		tried = append(tried, err.Error())
	}
	return "", 0, fmt.Errorf("%w: %s, or set %s to the path of the library\n  %s", ErrNone, hint, env, strings.Join(tried, "\n  "))
}

// bind sets the fields of calls, a pointer to a struct of functions, to the symbols that
// their tags name.
func bind(name string, handle uintptr, calls any) error {
	v := reflect.ValueOf(calls).Elem()
	for i := range v.NumField() {
		symbol := v.Type().Field(i).Tag.Get("symbol")
		at, err := purego.Dlsym(handle, symbol)
		if err != nil {
			return fmt.Errorf("%w: the library %s has no symbol %s", ErrNone, name, symbol)
		}
		purego.RegisterFunc(v.Field(i).Addr().Interface(), at)
	}
	return nil
}

// Error says which call of a driver failed, and how.
type Error struct {
	Device, Call string
	Code         int
	Text         string // the driver's name of the code, and what to do
}

func (e *Error) Error() string {
	return fmt.Sprintf("device %s: %s failed with %d: %s", e.Device, e.Call, e.Code, e.Text)
}

// groupsOf is how many groups of so many work items n work items need.
func groupsOf(n, size int) int { return (n + size - 1) / size }

// Each is the grid and group of a kernel that does n elements one by one.
func Each(n int) (grid, group [3]int) {
	return [3]int{groupsOf(n, 256), 1, 1}, [3]int{256, 1, 1}
}
