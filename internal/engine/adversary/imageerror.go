package adversary

// ImageError is an error about one image of a batch.
type ImageError struct {
	Image int // place in the batch
	Err   error
}

func (e *ImageError) Error() string { return e.Err.Error() }

func (e *ImageError) Unwrap() error { return e.Err }
