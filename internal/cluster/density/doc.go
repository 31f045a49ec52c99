// Package density finds clusters of any number, form and density, and leaves the rest out as
// noise.
package density
