package kernel

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"tercet/internal/par"
)

// Level is an instruction-set level of the kernels. Results of one level are
// bit-identical for any number of threads; results of two levels agree only up
// to float32 rounding.
type Level int32

// The levels, each with more instructions than the one before.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2 and FMA
	AVX512               // AVX-512 F and VL
	AMX                  // products of matrices in tiles of bfloat16, all else as AVX512; by choice only
)

// EnvLevel is the environment variable that forces a level at start.
const EnvLevel = "TERCET_KERNEL"

var levelNames = [...]string{Generic: "generic", AVX2: "avx2", AVX512: "avx512", AMX: "amx"}

// String returns the name used in EnvLevel, manifests and messages.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return fmt.Sprintf("level(%d)", int(l))
	}
	return levelNames[l]
}

// parseLevel is the inverse of String.
func parseLevel(name string) (Level, error) {
	for l, s := range levelNames {
		if s == name {
			return Level(l), nil
		}
	}
	return Generic, fmt.Errorf("unknown kernel level %q (valid: %s)", name, strings.Join(levelNames[:], ", "))
}

// floats is the number of float32 numbers in a vector.
func (l Level) floats() int { return [...]int{Generic: 1, AVX2: 8, AVX512: 16, AMX: 16}[l] }

// avx512 reports whether l has the vectors of AVX-512.
func (l Level) avx512() bool { return l >= AVX512 }

// within is the highest level up to l whose vectors n numbers fill.
func (l Level) within(n int) Level {
	for l != Generic && n < l.floats() {
		l--
	}
	return l
}

var (
	current  atomic.Int32
	errStart error
)

func init() {
	current.Store(int32(usual()))
	name, set := os.LookupEnv(EnvLevel)
	if !set || name == "" {
		return
	}
	l, err := parseLevel(name)
	if err == nil {
		_, err = Force(l)
	}
	if err != nil {
		errStart = fmt.Errorf("environment variable %s: %w", EnvLevel, err)
	}
}

// fastest returns the level of a program whose user chose none: never AMX, so that the bits of
// earlier runs stay.
func usual() Level { return min(available[len(available)-1], AVX512) }

// StartError returns what was wrong with EnvLevel, EnvWinograd or par.EnvNUMA at start, or
// nil. The kernels then run as if it were not set; a program should report the
// error and stop.
func StartError() error { return cmp.Or(errStart, par.StartError()) }

// Current returns the level in use.
func Current() Level { return Level(current.Load()) }

// Levels returns the levels that this processor and this build can run, in the order of
// their constants. Generic is always there.
func Levels() []Level { return append([]Level(nil), available...) }

// Force switches to a level and returns a function that switches back. It is an
// error, and nothing changes, where the level is not available. A kernel that is
// running finishes on the level it started with.
func Force(l Level) (restore func(), err error) {
	if slices.Contains(available, l) {
		old := current.Swap(int32(l))
		return func() { current.Store(old) }, nil
	}
	names := make([]string, len(available))
	for i, have := range available {
		names[i] = have.String()
	}
	return nil, fmt.Errorf("kernel level %q is not available on this processor or in this build (available: %s)",
		l, strings.Join(names, ", "))
}
