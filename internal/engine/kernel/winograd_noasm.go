//go:build !amd64 || noasm

package kernel

func (Level) winogradMap(m *winogradMap, n int, src []float32, at *winogradTable, dst []float32, drow, dcol, _ int) {
	m.mapGeneric(n, src, at, dst, drow, dcol)
}

func (Level) winogradGather(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol, _ int) {
	m.gatherGeneric(n, src, srow, scol, dst, drow, dcol)
}

func (Level) winogradFinish(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, at *winogradTable, _ int, bias []float32, floor float32) {
	m.finishGeneric(n, src, srow, scol, dst, at, bias, floor)
}
