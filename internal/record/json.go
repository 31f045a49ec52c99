package record

import (
	"bytes"
	"encoding/json"
)

// SameJSON says that a and b have the same JSON.
func SameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
