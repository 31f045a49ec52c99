//go:build !amd64 || noasm

package kernel

func (Level) resampleRow(int, *Taps, []uint8, []uint8) int { return 0 }

func (Level) resampleColumns(_, _ []uint8, _ int, _ []int32) bool { return false }
