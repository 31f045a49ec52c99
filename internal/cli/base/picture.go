package base

import (
	"errors"
	"syscall"
)

// Picture draws and says where. A picture that cannot be drawn is a note, the numbers
// stand; one that cannot be written is an error.
func Picture(s *Streams, draw func() (string, error)) error {
	path, err := draw()
	var system syscall.Errno
	switch {
	case errors.As(err, &system):
		return err
	case err != nil:
		s.Note("no picture: %v", err)
	default:
		s.Note("drew %s", path)
	}
	return nil
}
