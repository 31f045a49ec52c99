package config

import (
	"strconv"

	"tercet/internal/record/printed"
)

// origin is where a value was written; the zero value is a default.
type origin struct {
	file string // file, or the name of an option
	line int
}

func (o origin) String() string {
	switch {
	case o.file == "":
		return "default"
	case o.line == 0:
		return o.file
	}
	return o.file + ":" + strconv.Itoa(o.line)
}

func (o origin) errorf(key, msg string) *Error {
	return &Error{File: o.file, Line: o.line, Key: key, Msg: msg}
}

// Origins lists every key of the resolved config in its fixed order.
func (c *Config) Origins() []printed.Origin {
	var list []printed.Origin
	c.walk(func(l leaf) {
		if !l.silent() {
			list = append(list, printed.Origin{Key: l.path, Value: l.text(), From: c.src.origin(l.path).String()})
		}
	})
	return list
}
