//go:build amd64 && !noasm

package kernel

type (
	winogradMapFunc    = func(n int, src *float32, srow, scol int, dst *float32, drow, dcol int)
	winogradFinishFunc = func(n int, src *float32, srow, scol int, dst *float32, drow, dcol int, bias *float32, floor float32)
)

// winogradCode is the assembly of one level: tables indexed by a map's id, for
// F(2x2,3x3), F(4x4,3x3) and F(2x2,5x5).
type winogradCode struct {
	input, weights, spread, gather [3]winogradMapFunc
	output                         [3]winogradFinishFunc
}

var winogradAVX512 = winogradCode{
	input:   [3]winogradMapFunc{winogradInput4From4AVX512, winogradInput6From6AVX512, winogradInput6From6AVX512},
	weights: [3]winogradMapFunc{winogradWeights4From3AVX512, winogradWeights6From3AVX512, winogradWeights6From5AVX512},
	spread:  [3]winogradMapFunc{winogradSpread4From2AVX512, winogradSpread6From4AVX512, winogradSpread6From2AVX512},
	gather:  [3]winogradMapFunc{winogradGather3From4AVX512, winogradGather3From6AVX512, winogradGather5From6AVX512},
	output:  [3]winogradFinishFunc{winogradOutput2From4AVX512, winogradOutput4From6AVX512, winogradOutput2From6AVX512},
}

var winogradAVX2 = winogradCode{
	input:   [3]winogradMapFunc{winogradInput4From4AVX2, winogradInput6From6AVX2, winogradInput6From6AVX2},
	weights: [3]winogradMapFunc{winogradWeights4From3AVX2, winogradWeights6From3AVX2, winogradWeights6From5AVX2},
	spread:  [3]winogradMapFunc{winogradSpread4From2AVX2, winogradSpread6From4AVX2, winogradSpread6From2AVX2},
	gather:  [3]winogradMapFunc{winogradGather3From4AVX2, winogradGather3From6AVX2, winogradGather5From6AVX2},
	output:  [3]winogradFinishFunc{winogradOutput2From4AVX2, winogradOutput4From6AVX2, winogradOutput2From6AVX2},
}

func (c *winogradCode) table(role winogradRole) *[3]winogradMapFunc {
	switch role {
	case winogradInput:
		return &c.input
	case winogradWeights:
		return &c.weights
	case winogradSpread:
		return &c.spread
	}
	return &c.gather
}

// winogradMap sets dst = m of src for n lanes, or adds it where m is a Gᵀ. Where
// it sets, the lanes from n on to the next multiple of the vector become 0;
// where it adds, src is read up to such a multiple.
func (l Level) winogradMap(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol int) {
	if l == Generic {
		m.mapGeneric(n, src, srow, scol, dst, drow, dcol)
		return
	}
	code, lanes := &winogradAVX512, 16
	if l == AVX2 {
		code, lanes = &winogradAVX2, 8
	}
	full := roundUp(n, lanes)
	reads, writes := n, full
	if m.role == winogradGather {
		reads, writes = full, n
	}
	_ = src[(m.from-1)*(srow+scol)+reads-1]
	_ = dst[(m.to-1)*(drow+dcol)+writes-1]
	code.table(m.role)[m.id](n, &src[0], srow, scol, &dst[0], drow, dcol)
}

// winogradFinish sets dst = max(floor, m of src + bias); src and bias are read up
// to a multiple of the vector.
func (l Level) winogradFinish(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol int, bias []float32, floor float32) {
	if l == Generic {
		m.finishGeneric(n, src, srow, scol, dst, drow, dcol, bias, floor)
		return
	}
	code, lanes := &winogradAVX512, 16
	if l == AVX2 {
		code, lanes = &winogradAVX2, 8
	}
	full := roundUp(n, lanes)
	_ = src[(m.from-1)*(srow+scol)+full-1]
	_ = bias[full-1]
	_ = dst[(m.to-1)*(drow+dcol)+n-1]
	code.output[m.id](n, &src[0], srow, scol, &dst[0], drow, dcol, &bias[0], floor)
}
