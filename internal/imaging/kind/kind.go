// Package kind gives the format of an image by its first bytes.
package kind

import "bytes"

// kinds are the formats of images that browsers show, by their first bytes; four dots stand
// for any four bytes.
var kinds = []struct{ kind, begin string }{
	{"png", "\x89PNG\r\n\x1a\n"},
	{"jpeg", "\xff\xd8\xff"},
	{"gif", "GIF87a"},
	{"gif", "GIF89a"},
	{"bmp", "BM"},
	{"webp", "RIFF....WEBPVP"},
	{"x-icon", "\x00\x00\x01\x00"},
	{"x-icon", "\x00\x00\x02\x00"},
}

// Of returns the type of an image, such as image/png, by its first bytes; "" for what is
// none that browsers show. net/http has the same rules, and would link a server and
// cryptography into each program that reads images.
func Of(data []byte) string {
	for _, k := range kinds {
		if len(data) >= len(k.begin) && matches(data, k.begin) {
			return "image/" + k.kind
		}
	}
	return ""
}

func matches(data []byte, begin string) bool {
	before, after, dots := bytes.Cut([]byte(begin), []byte("...."))
	return bytes.HasPrefix(data, before) && (!dots || bytes.HasPrefix(data[len(before)+4:], after))
}
