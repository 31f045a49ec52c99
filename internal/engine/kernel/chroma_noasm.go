//go:build !amd64 || noasm

package kernel

func (Level) chromaRow(_, _, _ []uint8, _, _ int) int { return 0 }

func (Level) ycbcrRow(_, _, _, _ []uint8) int { return 0 }
