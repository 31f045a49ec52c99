//go:build !amd64 || noasm

package kernel

func (Level) exp(x, y []float32) { expGeneric(x, y) }
func (Level) log(x, y []float32) { logGeneric(x, y) }
