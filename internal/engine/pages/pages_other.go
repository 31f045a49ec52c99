//go:build !linux

package pages

// advise does nothing: other systems choose the size of pages themselves.
func advise(_, _ uintptr) {}
