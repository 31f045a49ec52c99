package nn

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
)

// Engine computes the passes of a network elsewhere than on the processor: package
// nn/gpu makes those of devices. Where it cannot, it panics with an *EngineError.
type Engine interface {
	// Embed is Model.Embed; raw are the rows that LeaveRaw named.
	Embed(x *array.Array, mode Mode, raw [][2]int) *array.Array
	// Backward is Model.Backward; with alone and without Input it stops at the head.
	Backward(dz *array.Array, need Need, alone bool) *array.Array
	// Fetch makes parameters and buffers in memory what the engine has, and makes the
	// engine take them from memory at its next pass.
	Fetch()
}

// Store is where an engine keeps parameters, gradients and what optimizers remember of
// them. An array in memory is then a copy, which Engine.Fetch or FetchState brings up to
// date.
type Store interface {
	ZeroGrad(p *Param)
	// SumSquares is that of the gradients of all ps.
	SumSquares(ps []*Param) float64
	ScaleGrad(p *Param, factor float32)
	ClipGrad(p *Param, most float32)
	// FetchGrad makes p.Grad what the store has, and makes the store take it from memory.
	FetchGrad(p *Param)
	Adam(p *Param, f *kernel.AdamFactors, m, v []float32)
	SGD(p *Param, f *kernel.SGDFactors, buf []float32, nesterov bool)
	// FetchState makes an array of an optimizer in memory what the store has, and makes
	// the store take it from memory at the next step.
	FetchState(x []float32)
}

// EngineError is the panic of an engine that fails: a device that was lost, or has too
// little memory.
type EngineError struct{ Err error }

func (e *EngineError) Error() string { return e.Err.Error() }
func (e *EngineError) Unwrap() error { return e.Err }

// RecoverEngine makes the panic of an engine the error *err; other panics stay. It is to
// be deferred.
func RecoverEngine(err *error) {
	switch v := recover().(type) {
	case nil:
	case *EngineError:
		*err = v
	default:
		panic(v)
	}
}

// Engine returns what m computes with, nil for the kernels of this program.
func (m *Model) Engine() Engine { return m.engine }

// Run makes m compute with e from here on; its params are kept in s.
func (m *Model) Run(e Engine, s Store) {
	m.engine = e
	for _, p := range m.params {
		p.Store = s
	}
}
