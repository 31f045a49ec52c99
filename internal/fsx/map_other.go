//go:build !unix

package fsx

import (
	"errors"
	"os"
)

// Map is not supported here.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }
