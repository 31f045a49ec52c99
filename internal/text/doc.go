// Package text puts numbers, lists, lengths and times into words, the same way in every
// message, table and picture.
package text
