//go:build !amd64 || noasm

package kernel

func (Level) winogradMap(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol int) {
	m.mapGeneric(n, src, srow, scol, dst, drow, dcol)
}

func (Level) winogradFinish(m *winogradMap, n int, src []float32, srow, scol int, dst []float32, drow, dcol int, bias []float32, floor float32) {
	m.finishGeneric(n, src, srow, scol, dst, drow, dcol, bias, floor)
}
