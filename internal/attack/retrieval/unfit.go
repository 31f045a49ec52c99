package retrieval

import (
	"errors"
	"fmt"
)

// ErrUnfit is in errors about a gallery that an attack cannot be run on as it is
// asked for: too few images, classes or candidates.
var ErrUnfit = errors.New("attack: the gallery does not fit")

// unfit is an error that is ErrUnfit.
type unfit struct{ error }

func (unfit) Is(target error) bool { return target == ErrUnfit }

// Unfit returns an error that is ErrUnfit.
func Unfit(format string, args ...any) error { return unfit{fmt.Errorf(format, args...)} }
