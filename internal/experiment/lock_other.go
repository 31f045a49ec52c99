//go:build !unix

package experiment

import "os"

// lockFile does nothing where there is no flock: two processes on one run are
// then the user's care.
func lockFile(*os.File) error { return nil }
