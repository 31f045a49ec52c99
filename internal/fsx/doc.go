// Package fsx writes files so that a reader never sees half of one: whatever
// goes wrong, the path holds either the old content or the whole new one.
package fsx
