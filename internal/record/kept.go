package record

import (
	"fmt"
	"strings"
)

// KeptError refuses to replace a result by one that does not cover it.
type KeptError struct {
	Path string
	Lost []string // what the new result would not have
	Own  string   // the name under which this version keeps such a result, if another
}

// Error says what would be lost.
func (e *KeptError) Error() string {
	msg := fmt.Sprintf("replacing %s would lose: %s", e.Path, strings.Join(e.Lost, "; "))
	if e.Own != "" {
		msg += fmt.Sprintf(" (its name is that of another result; rename it to %s to keep it)", e.Own)
	}
	return msg
}
