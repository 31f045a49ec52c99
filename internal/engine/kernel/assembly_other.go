//go:build !amd64 || noasm

package kernel

const assembly = false
