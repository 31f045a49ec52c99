//go:build !amd64 || noasm

// A package with assembly, be it empty, may declare functions without a body.
