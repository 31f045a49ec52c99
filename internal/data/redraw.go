package data

// Draw is what a fresh drawing of an item depends on, besides the dataset's own seed.
type Draw struct {
	Seed             uint64 // the loader's
	Epoch, Step, Row int
}

// redrawn is a dataset whose images a loader may draw again each time.
type redrawn interface {
	redraws() bool
	// readAnew is Read, but what is random in item i depends on k.
	readAnew(i int, dst []float32, k Draw) error
}

// Redraws reports whether ds draws images again in each epoch, as fresh distortions do.
func Redraws(ds Dataset) bool {
	d, ok := ds.(redrawn)
	return ok && d.redraws()
}

// ReadAnew reads item i of ds. If ds draws images again, it returns a new drawing.
func ReadAnew(ds Dataset, i int, dst []float32, k Draw) error {
	if Redraws(ds) {
		return ds.(redrawn).readAnew(i, dst, k)
	}
	return ds.Read(i, dst)
}

func (v *view) redraws() bool { return Redraws(v.base) }

func (v *view) readAnew(i int, dst []float32, k Draw) error {
	return ReadAnew(v.base, v.item(i), dst, k)
}

func (j *joined) redraws() bool { return Redraws(j.a) || Redraws(j.b) }

func (j *joined) readAnew(i int, dst []float32, k Draw) error {
	ds, i := j.part(i)
	return ReadAnew(ds, i, dst, k)
}
