package config

import "strconv"

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

// Origin says where the value of a key comes from.
type Origin struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as Resolved writes it
	From  string `json:"from"`  // "default", "file:line" or the name of an option
}

// Origins lists every key of the resolved config in its fixed order.
func (c *Config) Origins() []Origin {
	var list []Origin
	c.walk(func(l leaf) {
		if !l.silent() {
			list = append(list, Origin{l.path, l.text(), c.src.origin(l.path).String()})
		}
	})
	return list
}
