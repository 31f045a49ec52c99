package kernel

import "fmt"

const (
	// MostCuts is the largest number of cuts that CountKeys counts at a time.
	MostCuts = 32
	// mostKeys is the largest number of keys.
	mostKeys = 256
)

// KeyCounts is what CountKeys counts: for each cut the keys below it, and those at most there.
type KeyCounts struct {
	Below, AtMost [MostCuts]int32

	keys [mostKeys + 16]float32 // scratch
}

// CountKeys counts keys x[j]*scale[j] + add[j] for the first n cuts, of which limit is the
// largest, and reports whether any is at most there; otherwise c keeps what it held. What is
// counted for further cuts is of no use. The numbers lie in panels of PanelRows, stride apart
// in x, and close together in scale and add. cuts has at least MostCuts numbers. Keys are the
// same at all levels where each scale is a power of two or each add is 0.
func CountKeys(x []float32, stride int, scale, add []float32, limit float32, cuts []float32, n int, c *KeyCounts) bool {
	keys := len(scale)
	if keys < PanelRows || keys%PanelRows != 0 || keys > mostKeys || len(add) != keys || len(x) < (keys/PanelRows-1)*stride+PanelRows ||
		n < 1 || n > MostCuts || len(cuts) < MostCuts {
		panic(fmt.Sprintf("kernel: counting %d keys of %d numbers, stride %d, for %d of %d cuts", keys, len(x), stride, n, len(cuts)))
	}
	vectors := (n + 15) / 16
	if l := Current(); assembly && l != Generic {
		return countKeysAsm(l, keys/PanelRows, &x[0], stride, &scale[0], &add[0], limit, vectors, &cuts[0], &c.Below[0], &c.AtMost[0], &c.keys[0]) > 0
	}
	return countKeysGeneric(x, stride, scale, add, limit, cuts, vectors, c) > 0
}

func countKeysGeneric(x []float32, stride int, scale, add []float32, limit float32, cuts []float32, vectors int, c *KeyCounts) int {
	keys := c.keys[:0]
	for j := range scale {
		if key := float32(x[j/PanelRows*stride+j%PanelRows]*scale[j]) + add[j]; key <= limit {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return 0
	}
	for r := range 16 * vectors {
		var below, most int32
		for _, key := range keys {
			if key < cuts[r] {
				below++
			}
			if key <= cuts[r] {
				most++
			}
		}
		c.Below[r], c.AtMost[r] = below, most
	}
	return len(keys)
}

// PanelsOfColumns writes PanelRows columns of m rows of x, ld apart, to out as CountKeys reads
// them: column j begins at out[PanelRows*j], in panels PanelRows*PanelRows apart. Numbers in
// out after the last row remain.
func PanelsOfColumns(m int, x []float32, ld int, out []float32) {
	for i := 0; i < m; i += PanelRows {
		Current().transpose(min(PanelRows, m-i), PanelRows, x[i*ld:], ld, out[i*PanelRows:][:PanelRows*PanelRows], PanelRows)
	}
}
