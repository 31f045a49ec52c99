//go:build amd64 && !noasm

package kernel

type (
	winogradMapFunc    = func(n int, src *float32, at *int, dst *float32, drow, dcol, ahead int)
	winogradGatherFunc = func(n int, src *float32, srow, scol int, dst *float32, drow, dcol, ahead int)
	winogradFinishFunc = func(n int, src *float32, srow, scol int, dst *float32, at *int, ahead int, bias *float32, floor float32)
)

// winogradCode is the assembly of one level: tables indexed by a map's id, for
// F(2x2,3x3), F(4x4,3x3), F(2x2,5x5) and F(4x4,5x5).
type winogradCode struct {
	input, weights, spread [4]winogradMapFunc
	gather                 [4]winogradGatherFunc
	output                 [4]winogradFinishFunc
}

var winogradAVX512 = winogradCode{
	input:   [4]winogradMapFunc{winogradInput4From4AVX512, winogradInput6From6AVX512, winogradInput6From6AVX512, winogradInput8From8AVX512},
	weights: [4]winogradMapFunc{winogradWeights4From3AVX512, winogradWeights6From3AVX512, winogradWeights6From5AVX512, winogradWeights8From5AVX512},
	spread:  [4]winogradMapFunc{winogradSpread4From2AVX512, winogradSpread6From4AVX512, winogradSpread6From2AVX512, winogradSpread8From4AVX512},
	gather:  [4]winogradGatherFunc{winogradGather3From4AVX512, winogradGather3From6AVX512, winogradGather5From6AVX512, winogradGather5From8AVX512},
	output:  [4]winogradFinishFunc{winogradOutput2From4AVX512, winogradOutput4From6AVX512, winogradOutput2From6AVX512, winogradOutput4From8AVX512},
}

var winogradAVX2 = winogradCode{
	input:   [4]winogradMapFunc{winogradInput4From4AVX2, winogradInput6From6AVX2, winogradInput6From6AVX2, winogradInput8From8AVX2},
	weights: [4]winogradMapFunc{winogradWeights4From3AVX2, winogradWeights6From3AVX2, winogradWeights6From5AVX2, winogradWeights8From5AVX2},
	spread:  [4]winogradMapFunc{winogradSpread4From2AVX2, winogradSpread6From4AVX2, winogradSpread6From2AVX2, winogradSpread8From4AVX2},
	gather:  [4]winogradGatherFunc{winogradGather3From4AVX2, winogradGather3From6AVX2, winogradGather5From6AVX2, winogradGather5From8AVX2},
	output:  [4]winogradFinishFunc{winogradOutput2From4AVX2, winogradOutput4From6AVX2, winogradOutput2From6AVX2, winogradOutput4From8AVX2},
}

func (l Level) winogradCode() (c *winogradCode, lanes int) {
	if l == AVX2 {
		return &winogradAVX2, 8
	}
	return &winogradAVX512, 16
}

// winogradMap sets dst = m of src for n lanes, m being of any role but output
// and gather. Lanes from n on to the next multiple of
// the vector become 0. at holds the distances of src's pixels, of which those in
// the image must have n lanes. What is ahead of src is wanted next.
func (l Level) winogradMap(m *winogradMap, n int, src []float32, at *winogradTable, dst []float32, drow, dcol, ahead int) {
	if l == Generic {
		m.mapGeneric(n, src, at, dst, drow, dcol)
		return
	}
	code, lanes := l.winogradCode()
	_ = dst[(m.to-1)*(drow+dcol)+roundUp(n, lanes)-1]
	table := &code.input
	switch m.role {
	case winogradWeights:
		table = &code.weights
	case winogradSpread:
		table = &code.spread
	}
	table[m.id](n, &src[0], &at[0], &dst[0], drow, dcol, ahead)
}

// winogradGather adds m of src to dst; src is read up to a multiple of the vector.
func (l Level) winogradGather(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol, ahead int) {
	if l == Generic {
		m.gatherGeneric(n, src, srow, scol, dst, drow, dcol)
		return
	}
	code, lanes := l.winogradCode()
	_ = src[(m.from-1)*(srow+scol)+roundUp(n, lanes)-1]
	_ = dst[(m.to-1)*(drow+dcol)+n-1]
	code.gather[m.id](n, &src[0], srow, scol, &dst[0], drow, dcol, ahead)
}

// winogradFinish sets dst = max(floor, m of src + bias); src and bias are read up
// to a multiple of the vector. at holds the distances of dst's pixels. What is
// ahead of dst is written next.
func (l Level) winogradFinish(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, at *winogradTable, ahead int, bias []float32, floor float32) {
	if l == Generic {
		m.finishGeneric(n, src, srow, scol, dst, at, bias, floor)
		return
	}
	code, lanes := l.winogradCode()
	full := roundUp(n, lanes)
	_ = src[(m.from-1)*(srow+scol)+full-1]
	_ = bias[full-1]
	code.output[m.id](n, &src[0], srow, scol, &dst[0], &at[0], ahead, &bias[0], floor)
}
