// Package record declares the JSON documents that Tercet writes, each once for writers and
// readers.
//
// A document is a struct with the keys, their meaning (tag doc, from which
// docs/documents.md is made) and its schema. Write adds a digest, by which Read and
// ReadIfThere refuse what was changed; they refuse unknown keys as well. Covers says what
// a stored result has that a new one lacks: ReadKept and KeptError keep a result from
// being replaced by less.
package record
