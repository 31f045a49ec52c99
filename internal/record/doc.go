// Package record declares the JSON documents that Tercet writes, each once for writers and
// readers.
//
// A document is a struct with its keys, their meaning (tag doc, from which
// docs/documents.md is generated) and its schema. Write adds a digest. Read and ReadIfThere
// reject documents that do not match their digest or have unknown keys. Covers lists what
// a stored result has and a new one lacks; ReadKept and KeptError use it to protect
// results from being replaced by smaller ones.
package record
