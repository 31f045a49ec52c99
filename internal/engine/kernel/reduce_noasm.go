//go:build !amd64 || noasm

package kernel

func (Level) sum(x []float32) float64                { return sumGeneric(x) }
func (Level) dot(a, b []float32) float64             { return dotGeneric(a, b) }
func (Level) squaredDistance(a, b []float32) float64 { return squaredDistanceGeneric(a, b) }
func (Level) maxAbs(x []float32) float32             { return maxAbsGeneric(x) }

func (Level) stretch(factor float64, x, y []float32) { stretchGeneric(factor, x, y) }

func (Level) radial(dot, factor float64, y, dy, dx []float32) {
	radialGeneric(dot, factor, y, dy, dx)
}

func (Level) finishDistances(x2 float64, y2 []float64, out []float32) {
	finishDistancesGeneric(x2, y2, out)
}
