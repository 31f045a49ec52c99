//go:build !noasm

package kernel

// assembly says whether the build has the functions without a body. A call that nothing
// but its falsehood keeps from being made is not compiled.
const assembly = true
