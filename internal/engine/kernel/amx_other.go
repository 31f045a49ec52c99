//go:build !linux || !amd64

package kernel

// tilesAllowed is false: other systems are not known to keep tiles.
func tilesAllowed() bool { return false }
