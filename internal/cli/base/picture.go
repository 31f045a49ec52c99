package base

// Picture draws and says where; a picture that cannot be drawn is a note, the
// numbers stand.
func Picture(s *Streams, draw func() (string, error)) {
	path, err := draw()
	if err != nil {
		s.Note("no picture: %v", err)
		return
	}
	s.Note("drew %s", path)
}
