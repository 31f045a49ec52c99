//go:build !linux

package par

// yield does nothing: the system shares the processors by its clock.
func yield() {}

// bind does nothing: the system places threads.
func bind(int, int) {}
