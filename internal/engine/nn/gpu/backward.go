//go:build native && linux && (amd64 || arm64)

package gpu

import (
	"tercet/internal/engine/array"
	"tercet/internal/engine/nn"
)

// gradient is that of the output of a step: a lent buffer, which several steps may share.
type gradient struct{ *loan }

type loan struct {
	buffer
	users int
}

// lend returns a gradient of so many numbers with undefined content: the smallest free buffer
// that is large enough, else the largest, which grows.
func (e *engine) lend(n int) gradient {
	best := -1
	for i := range e.pool {
		have, had := e.pool[i].at.Bytes(), 0
		if best >= 0 {
			had = e.pool[best].at.Bytes()
		}
		if best < 0 || had < 4*n && have > had || have >= 4*n && have < had {
			best = i
		}
	}
	l := &loan{users: 1}
	if best >= 0 {
		l.buffer = e.pool[best]
		e.pool = append(e.pool[:best], e.pool[best+1:]...)
	}
	l.need(e.queue, n, 4)
	return gradient{l}
}

// release gives up one use of g.
func (e *engine) release(g gradient) {
	if g.users--; g.users == 0 {
		e.pool = append(e.pool, g.buffer)
	}
}

// give adds g, of n numbers, to the gradient of the output of step i, and takes it over. What
// goes to the images is returned by Backward.
func (e *engine) give(i int, g gradient, n int, images *gradient) {
	to := images
	if i >= 0 {
		to = &e.grads[i]
	}
	if to.loan == nil {
		*to = g
		return
	}
	sum := *to
	if sum.users > 1 {
		sum = e.lend(n)
	}
	e.each("add", n, to.at, g.at, 0, sum.at)
	if sum.loan != to.loan {
		e.release(*to)
		*to = sum
	}
	e.release(g)
}

// own returns a gradient that the caller may write over: g, or another one of n numbers.
func (e *engine) own(g gradient, n int) gradient {
	if g.users == 1 {
		g.users++ // the caller's
		return g
	}
	return e.lend(n)
}

// Backward implements nn.Engine.
func (e *engine) Backward(dz *array.Array, need nn.Need, alone bool) *array.Array {
	e.Lock()
	defer e.Unlock()
	stop, want := 0, need&nn.Input != 0
	if alone && !want && e.head >= 0 {
		stop = e.head
	}
	last := e.steps[len(e.steps)-1].at
	top := e.lend(len(dz.Data))
	must(e.Upload(top.at, bytes(dz.Data)))
	e.grads[last] = top
	var images gradient
	for i := last; i >= stop; i-- {
		dy := e.grads[i]
		if dy.loan == nil {
			continue
		}
		e.grads[i] = gradient{}
		st := &e.steps[i]
		e.backward(st, dy, need, func(source int) bool { return want || i > stop && source >= 0 && e.steps[source].trains }, &images)
	}
	for i := range e.grads { // left below the head
		if e.grads[i].loan != nil {
			e.release(e.grads[i])
			e.grads[i] = gradient{}
		}
	}
	if !want {
		return nil
	}
	e.dx = sized(e.dx, e.rows, e.shape)
	must(e.Download(bytes(e.dx.Data), images.at))
	e.release(images)
	return e.dx
}

// backward takes the gradient dy of the output of a step, over which it may not write where
// others use it, and gives those of its inputs.
func (e *engine) backward(st *step, dy gradient, need nn.Need, wanted func(source int) bool, images *gradient) {
	n, c := e.rows*count(st.Shape), st.channels()
	if st.relu {
		masked := e.own(dy, n)
		e.each("relu_back", n, st.y.at, dy.at, masked.at)
		e.release(dy)
		dy = masked
	}
	if st.Kind == nn.OpAdd {
		for _, source := range []int{st.from, st.second} {
			if wanted(source) {
				dy.users++
				e.give(source, dy, n, images)
			}
		}
		e.release(dy)
		return
	}
	weights := need&nn.Weights != 0 && st.first != nil && st.first.Trained()
	if weights && e.watch != nil {
		e.watch(st, dy, n/c, c)
	}
	switch st.Kind {
	case nn.OpConv, nn.OpLinear:
		if weights {
			e.weights(st, dy, n, c)
		}
	case nn.OpBatchNorm:
		e.slopes(st, dy, n/c, weights)
	}
	if wanted(st.from) {
		m := e.rows * count(st.in)
		dx := e.lend(m)
		e.inputGradient(st, dy, dx, n, m)
		e.give(st.from, dx, m, images)
	}
	e.release(dy)
}

// weights adds the gradients of weights and bias.
func (e *engine) weights(st *step, dy gradient, n, c int) {
	x := e.input(st.from)
	if st.Kind == nn.OpLinear {
		e.product("gemm_tn", st.Inner, c, 1, st.Inner, c, n/c, x, dy.at, nil, 0, 1, e.grad(st.first, true))
	} else {
		m := len(st.first.Value.Data) / c
		span, runs := runsOf(n/c, m*c)
		part := e.part.need(e.queue, runs*m*c, 4)
		args := append([]any{e.rows}, st.geometry()...)
		e.product("conv_weights", m, c, runs, append(args, span, x, dy.at, part)...)
		e.each("add_runs", m*c, runs, part, e.grad(st.first, true))
	}
	if st.other != nil {
		blocks := e.columns("column_sums", n/c, c, dy.at)
		e.each("add_columns", c, blocks, e.part.at, e.grad(st.other, true))
	}
}

// runsOf divides the sums over so many output pixels, of size numbers, into runs: of about
// 1024 pixels, and fewer where their results would take more than 64 MiB.
func runsOf(pixels, size int) (span, runs int) {
	runs = min((pixels+1023)/1024, max(1, 1<<24/size))
	span = (pixels + runs - 1) / runs
	return span, (pixels + span - 1) / span
}

// slopes sums what the gradients of a batch norm need, and adds those of its parameters.
func (e *engine) slopes(st *step, dy gradient, rows int, weights bool) {
	c, running := st.channels(), e.mode == nn.Eval || e.mode == nn.Frozen
	slopes := st.slopes.need(e.queue, 2*c, 8)
	if running && !weights {
		return
	}
	var dw, db any
	if weights {
		dw, db = e.grad(st.first, true), e.grad(st.other, true)
	}
	blocks := e.columns("batch_norm_sums", rows, c, dy.at, e.input(st.from), st.extra.at)
	e.each("batch_norm_slopes", c, blocks, rows, number(running), e.part.at, st.extra.at, dw, db, slopes)
}

// inputGradient computes dx, of m numbers, from dy, of n.
func (e *engine) inputGradient(st *step, dy, dx gradient, n, m int) {
	c := st.channels()
	switch st.Kind {
	case nn.OpConv:
		args := append([]any{e.rows}, st.geometry()...)
		e.product("conv_input", m/st.in[2], st.in[2], 1, append(args, dy.at, e.param(st.first), dx.at)...)
	case nn.OpLinear:
		e.product("gemm_nt", n/c, st.Inner, 1, n/c, st.Inner, c, dy.at, e.param(st.first), nil, 0, 0, dx.at)
	case nn.OpBatchNorm:
		e.each("batch_norm_back", n, c, number(e.mode == nn.Eval || e.mode == nn.Frozen), e.input(st.from), dy.at, st.extra.at, st.slopes.at, dx.at)
	case nn.OpReLU:
		e.each("relu_back", n, st.y.at, dy.at, dx.at)
	case nn.OpMaxPool, nn.OpMaxAll:
		e.each("max_pool_back", m, append(st.window(), dy.at, st.arg.at, dx.at)...)
	case nn.OpAvgPool:
		e.each("mean_pool_back", m, count(st.in)/c, c, dy.at, dx.at)
	case nn.OpPad:
		e.each("cut", m, append(st.frame(), dy.at, dx.at)...)
	case nn.OpMeanStd:
		e.each("mean_std_back", n, c, number(st.BGR), e.param(st.other), dy.at, dx.at)
	case nn.OpL2:
		runs, raw := e.rawRows()
		e.queue.rows("l2_back", n/c, c, nn.NormEps, runs, raw, st.y.at, st.extra.at, dy.at, dx.at)
	case nn.OpLayerNorm:
		e.queue.rows("layer_norm_back", n/c, c, st.y.at, st.extra.at, dy.at, dx.at)
	}
}
