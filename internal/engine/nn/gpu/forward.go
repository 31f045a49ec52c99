//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"fmt"

	"tercet/internal/engine/nn"
)

// tile is the side of the tile that a group of a product computes.
const tile = 64

// product launches a kernel that computes m x n sums in tiles, runs times.
func (q *queue) product(kernel string, m, n, runs int, args ...any) {
	must(q.Launch(kernel, [3]int{(m + tile - 1) / tile, (n + tile - 1) / tile, runs}, [3]int{16, 16, 1}, args...))
}

// geometry are the arguments of a convolution.
func (st *step) geometry() []any {
	return []any{st.in[0], st.in[1], st.in[2], st.Shape[0], st.Shape[1], st.Shape[2], st.Kernel[0], st.Kernel[1], st.Stride[0], st.Pad[0]}
}

// window are the arguments of a pooling.
func (st *step) window() []any {
	if st.Kind == nn.OpMaxAll {
		return []any{st.in[0], st.in[1], st.in[2], 1, 1, st.in[0], st.in[1], 1, 1, 0, 0}
	}
	return []any{st.in[0], st.in[1], st.in[2], st.Shape[0], st.Shape[1], st.Kernel[0], st.Kernel[1], st.Stride[0], st.Stride[1], st.Pad[0], st.Pad[1]}
}

// frame are the arguments of padding.
func (st *step) frame() []any {
	return []any{st.in[0], st.in[1], st.in[2], st.Shape[0], st.Shape[1], st.Pad[0], st.Pad[1]}
}

// channels is the extent of the last axis.
func (st *step) channels() int { return st.Shape[len(st.Shape)-1] }

// forward computes the output of a step from those of its inputs.
func (e *engine) forward(st *step) {
	x, n := e.input(st.from), e.rows*count(st.Shape)
	y := st.y.need(e.queue, n, 4)
	c := st.channels()
	switch st.Kind {
	case nn.OpConv:
		args := append([]any{e.rows}, st.geometry()...)
		e.product("conv", n/c, c, 1, append(args, x, e.param(st.first), e.param(st.other), number(st.relu), y)...)
	case nn.OpLinear:
		e.product("gemm_nn", n/c, c, 1, n/c, c, st.Inner, x, e.param(st.first), e.param(st.other), number(st.relu), 0, y)
	case nn.OpBatchNorm:
		e.factors(st, n/c)
		e.each("batch_norm", n, c, x, st.extra.at, number(st.relu), y)
	case nn.OpReLU:
		e.each("relu", n, x, y)
	case nn.OpAdd:
		e.each("add", n, x, e.input(st.second), number(st.relu), y)
	case nn.OpMaxPool, nn.OpMaxAll:
		e.each("max_pool", n, append(st.window(), x, y, st.arg.need(e.queue, n, 4))...)
	case nn.OpAvgPool:
		e.each("mean_pool", n, count(st.in)/c, c, x, y)
	case nn.OpPad:
		e.each("pad", n, append(st.frame(), x, y)...)
	case nn.OpMeanStd:
		e.each("mean_std", n, c, number(st.BGR), e.param(st.first), e.param(st.other), x, y)
	case nn.OpL2:
		runs, raw := e.rawRows()
		e.queue.rows("l2", n/c, c, nn.NormEps, runs, raw, x, y, st.extra.need(e.queue, n/c, 4))
	case nn.OpLayerNorm:
		e.queue.rows("layer_norm", n/c, c, st.Eps, x, y, st.extra.need(e.queue, n/c, 4))
	default:
		must(fmt.Errorf("device %s has no kernel for %s", e.Info().Name, st.Kind))
	}
}

// factors sets what a batch norm of so many rows does to each channel, and follows the
// statistics in mode Train.
func (e *engine) factors(st *step, rows int) {
	c := st.channels()
	factors := st.extra.need(e.queue, 4*c, 8)
	x := e.input(st.from)
	if e.mode == nn.Eval || e.mode == nn.Frozen {
		e.each("running_factors", c, nn.BatchNormEps, e.param(st.first), e.param(st.other), e.param(st.mean), e.param(st.vari), factors)
		return
	}
	momentum, train := 0.0, e.mode == nn.Train
	if train {
		momentum = nn.BatchNormMomentum
	}
	blocks := e.columns("moments", rows, c, x)
	e.each("batch_factors", c, blocks, rows, x, e.part.at, momentum, nn.BatchNormEps, e.param(st.first), e.param(st.other),
		e.value(st.mean, train), e.value(st.vari, train), factors)
}

// columns runs a kernel that sums over rows in blocks, whose number it returns, to e.part.
func (e *engine) columns(kernel string, rows, c int, args ...any) int {
	span := max(64, (rows+255)/256)
	blocks := (rows + span - 1) / span
	part := e.part.need(e.queue, 2*blocks*c, 8)
	must(e.Launch(kernel, [3]int{(c + 63) / 64, blocks, 1}, [3]int{64, 1, 1}, append(append([]any{rows, c, span}, args...), part)...))
	return blocks
}
