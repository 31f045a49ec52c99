package fsx

import (
	"errors"
	"io"
)

// ErrLong is wrapped by the error of a Records about a record above its limit.
var ErrLong = errors.New("a line is too long")

// Records hands on what it reads as long as no record takes more than its limit: the
// reader behind it, such as one of csv, keeps a whole record in memory. Whoever parses
// calls Next after each record.
type Records struct {
	r           io.Reader
	limit, left int
}

// NewRecords returns a Records of r whose records have at most limit bytes, give or
// take the buffer of the reader behind it.
func NewRecords(r io.Reader, limit int) *Records { return &Records{r, limit, limit} }

// Next begins another record.
func (r *Records) Next() { r.left = r.limit }

// Read reads from the reader below; past the limit it returns ErrLong.
func (r *Records) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, ErrLong
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
