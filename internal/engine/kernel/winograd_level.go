package kernel

type (
	winogradMapFunc    = func(l Level, n int, src *float32, at *int, dst *float32, drow, dcol, ahead int, room *float32)
	winogradGatherFunc = func(l Level, n int, src *float32, srow, scol int, dst *float32, drow, dcol, ahead int, room *float32)
	winogradFinishFunc = func(l Level, n int, src *float32, srow, scol int, dst *float32, at *int, ahead int, bias *float32, floor float32, room *float32)
)

// winogradRoom is memory for map*src where it does not stay in registers.
type winogradRoom [64 * 8]float32

// winogradCode is the assembly: tables indexed by a map's id, for F(2x2,3x3),
// F(4x4,3x3), F(2x2,5x5) and F(4x4,5x5).
var winogradCode = struct {
	input   [3][4]winogradMapFunc // by winogradHalf
	spread  [3][4]winogradMapFunc // as input, without the whole
	weights [4]winogradMapFunc
	gather  [4]winogradGatherFunc
	output  [4]winogradFinishFunc
}{
	input: [3][4]winogradMapFunc{
		{winogradInput4From4Asm, winogradInput6From6Asm, winogradInput6From6Asm, winogradInput8From8Asm},
		{winogradInput4From4FirstAsm, winogradInput6From6FirstAsm, winogradInput6From6FirstAsm, winogradInput8From8FirstAsm},
		{winogradInput4From4SecondAsm, winogradInput6From6SecondAsm, winogradInput6From6SecondAsm, winogradInput8From8SecondAsm},
	},
	spread: [3][4]winogradMapFunc{
		{},
		{winogradSpread4From2FirstAsm, winogradSpread6From4FirstAsm, winogradSpread6From2FirstAsm, winogradSpread8From4FirstAsm},
		{winogradSpread4From2SecondAsm, winogradSpread6From4SecondAsm, winogradSpread6From2SecondAsm, winogradSpread8From4SecondAsm},
	},
	weights: [4]winogradMapFunc{winogradWeights4From3Asm, winogradWeights6From3Asm, winogradWeights6From5Asm, winogradWeights8From5Asm},
	gather:  [4]winogradGatherFunc{winogradGather3From4Asm, winogradGather3From6Asm, winogradGather5From6Asm, winogradGather5From8Asm},
	output:  [4]winogradFinishFunc{winogradOutput2From4Asm, winogradOutput4From6Asm, winogradOutput2From6Asm, winogradOutput4From8Asm},
}

// winogradMap sets dst = m of src for n lanes, m being of any role but output
// and gather. Lanes from n on to the next multiple of
// the vector become 0. at holds the distances of src's pixels, of which those in
// the image must have n lanes. What is ahead of src is wanted soon.
func (l Level) winogradMap(m *winogradMap, n int, src []float32, at *winogradTable, dst []float32, drow, dcol, ahead int, room *winogradRoom) {
	if !assembly || l == Generic {
		m.mapGeneric(n, src, at, dst, drow, dcol)
		return
	}
	_ = dst[m.rows[len(m.rows)-1]*drow+(m.to-1)*dcol+roundUp(n, l.floats())-1]
	table := &winogradCode.input[m.half]
	switch m.role {
	case winogradWeights:
		table = &winogradCode.weights
	case winogradSpread:
		table = &winogradCode.spread[m.half]
	}
	table[m.id](l, n, &src[0], &at[0], &dst[0], drow, dcol, ahead, &room[0])
}

// winogradGather adds m of src to dst; src is read up to a multiple of the vector.
func (l Level) winogradGather(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol, ahead int, room *winogradRoom) {
	if !assembly || l == Generic {
		m.gatherGeneric(n, src, srow, scol, dst, drow, dcol)
		return
	}
	_ = src[(m.from-1)*(srow+scol)+roundUp(n, l.floats())-1]
	_ = dst[(m.to-1)*(drow+dcol)+n-1]
	winogradCode.gather[m.id](l, n, &src[0], srow, scol, &dst[0], drow, dcol, ahead, &room[0])
}

// winogradFinish sets dst = max(floor, m of src + bias); src and bias are read up
// to a multiple of the vector. at holds the distances of dst's pixels. What is
// ahead of dst is written next.
func (l Level) winogradFinish(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, at *winogradTable, ahead int, bias []float32, floor float32, room *winogradRoom) {
	if !assembly || l == Generic {
		m.finishGeneric(n, src, srow, scol, dst, at, bias, floor)
		return
	}
	full := roundUp(n, l.floats())
	_ = src[(m.from-1)*(srow+scol)+full-1]
	_ = bias[full-1]
	winogradCode.output[m.id](l, n, &src[0], srow, scol, &dst[0], &at[0], ahead, &bias[0], floor, &room[0])
}
