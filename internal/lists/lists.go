// Package lists makes a list of another one, where package slices has no function for it.
// A result without elements is nil.
package lists

import "slices"

// Map is f of each element.
func Map[A, B any](list []A, f func(A) B) (out []B) {
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

// Flat is what f gives for each element, one after the other.
func Flat[A, B any](list []A, f func(A) []B) (out []B) {
	for _, v := range list {
		out = append(out, f(v)...)
	}
	return out
}

// Filter is the elements that are kept, as a list of its own.
func Filter[A any](list []A, keep func(A) bool) (out []A) {
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// AppendNew appends v, unless the list has it.
func AppendNew[A comparable](list []A, v A) []A {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}
