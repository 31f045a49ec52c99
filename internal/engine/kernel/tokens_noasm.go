//go:build !amd64 || noasm

package kernel

func (Level) gelu(x, y []float32)                        { geluGeneric(x, y) }
func (Level) geluBack(x, dy, dx []float32)               { geluBackGeneric(x, dy, dx) }
func (Level) greatest(x []float32) float32               { return greatestGeneric(x) }
func (Level) expLess(top float32, x []float32)           { expLessGeneric(top, x) }
func (Level) softmaxBack(along float32, p, dp []float32) { softmaxBackGeneric(along, p, dp) }
func (Level) center(mean float64, x, y []float32)        { centerGeneric(mean, x, y) }
func (Level) scaleShift(x, scale, shift, y []float32)    { scaleShiftGeneric(x, scale, shift, y) }
func (Level) standardizeBack(mean, along, inv float32, y, dy, dx []float32) {
	standardizeBackGeneric(mean, along, inv, y, dy, dx)
}
