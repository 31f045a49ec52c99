package option

import "fmt"

// Error is a mistake in options, not in data.
type Error struct{ msg string }

// Error says what is wrong and what to do.
func (e *Error) Error() string { return e.msg }

// Errorf returns an *Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// spell is how the program names an option to its user.
var spell = func(name string) string { return name }

// Spell sets how the program that uses the library names an option to its user, such as a
// flag by "--limit". A program calls it once, before all else.
func Spell(how func(name string) string) { spell = how }

// Name is what messages call an option.
func Name(name string) string { return spell(name) }
