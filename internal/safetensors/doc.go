// Package safetensors reads and writes the safetensors format: an 8-byte
// little-endian header length, a JSON header that names each tensor's type,
// shape and byte range, then the raw data.
//
// Files made here are canonical: tensors in the order given, keys of the
// metadata sorted, the header padded with spaces to 8 bytes. The same content
// gives the same bytes.
package safetensors
