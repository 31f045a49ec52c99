//go:build !(native && linux && (amd64 || arm64))

package device

// Native says whether this program can open drivers.
const Native = false

// Open returns ErrStatic.
func Open(string) (Device, error) { return nil, ErrStatic }

// List returns ErrStatic.
func List() ([]Info, []error) { return nil, []error{ErrStatic} }
