package render

import (
	"fmt"
	"strings"
)

// Listed names at most six.
func Listed(names []string) string {
	if more := len(names) - 6; more > 0 {
		return strings.Join(names[:6], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
