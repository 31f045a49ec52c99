package attack

import (
	"errors"
	"fmt"
)

// ErrUnfit is in errors about a gallery that an attack cannot be run on as it is
// asked for: too few images, classes or candidates.
var ErrUnfit = errors.New("attack: the gallery does not fit")

// ErrTooMany is in errors about more targets (w, m) asked for than there are to
// choose from, where fewer could be; they are ErrUnfit, too.
var ErrTooMany = errors.New("attack: too many targets")

type excess struct{ error }

func (excess) Is(target error) bool { return target == ErrUnfit || target == ErrTooMany }

// unfit is an error that is ErrUnfit.
type unfit struct{ error }

func (unfit) Is(target error) bool { return target == ErrUnfit }

// Unfit returns an error that is ErrUnfit.
func Unfit(format string, args ...any) error { return unfitf(format, args...) }

func unfitf(format string, args ...any) error { return unfit{fmt.Errorf(format, args...)} }
