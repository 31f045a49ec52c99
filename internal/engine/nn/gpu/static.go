//go:build !(native && linux && (amd64 || arm64))

package gpu

import (
	"tercet/internal/device"
	"tercet/internal/engine/nn"
)

// Open returns device.ErrStatic, unless the processor is asked for.
func Open(name string) (device.Info, error) {
	driver, _, err := device.Parse(name)
	if err == nil && driver != device.CPU {
		err = device.ErrStatic
	}
	return device.Info{}, err
}

// Attach does nothing: no device is open.
func Attach(*nn.Model) error { return nil }
