// Package basetest gives tests streams whose time they set.
package basetest

import (
	"bytes"
	"time"

	"tercet/internal/cli/base"
)

// Clock returns streams with stderr, and what moves their time.
func Clock(stderr *bytes.Buffer) (*base.Streams, func(time.Duration)) {
	s := base.NewStreams(nil, &bytes.Buffer{}, stderr)
	now := time.Unix(1e9, 0)
	s.Now = func() time.Time { return now }
	return s, func(d time.Duration) { now = now.Add(d) }
}
