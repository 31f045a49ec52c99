package study

// Step is a part of running a study.
type Step struct{}

func (s *Step) check() error { return nil }
