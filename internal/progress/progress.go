package progress

// Count is told how much of some work is done: items, queries, merges. total is 0 where it
// is not known. A nil Count is told nothing.
type Count func(done, total int)

// Tell reports, where somebody listens.
func (c Count) Tell(done, total int) {
	if c != nil {
		c(done, total)
	}
}

// Say is told what is being done and how far it has come.
type Say func(stage string, done, total int)

// Of is the Count of one stage.
func (s Say) Of(stage string) Count {
	return func(done, total int) { s(stage, done, total) }
}

// Progress is told how far some work has come, and what is to be known of it.
type Progress struct {
	Say  Say
	Note func(format string, args ...any)
}
