package option

import "fmt"

// Error is a mistake in options, not in data.
type Error struct{ msg string }

// Error says what is wrong and what to do.
func (e *Error) Error() string { return e.msg }

func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
