//go:build !unix && !windows

package fsx

import "os"

// Lock does nothing where there are no locks: two processes on one run are
// then the user's care.
func Lock(*os.File) (busy bool, err error) { return false, nil }

// Share does nothing where there are no locks.
func Share(*os.File) error { return nil }

// Held is false where there are no locks.
func Held(*os.File) (bool, error) { return false, nil }
