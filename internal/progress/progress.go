package progress

// Say is told what is being done and how far it has come.
type Say func(stage string, done, total int)

// Progress is told of a measurement that trains.
type Progress struct {
	Say  Say
	Note func(format string, args ...any)
}
