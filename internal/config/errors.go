package config

import (
	"errors"
	"fmt"
	"strings"

	"tercet/internal/lists"
)

// Error is one mistake in a config: where it is, what is wrong, what to do.
type Error struct {
	File string // file, or what took its place, such as the name of an option
	Line int    // 0 where there is none
	Key  string // dotted path; empty where the mistake is not in a key
	Msg  string
}

// Error returns "file:line: key: message".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	return b.String() + e.Msg
}

// join returns nil, the one error, or all of them; errors.As finds the first.
func join(list []*Error) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	all := lists.Map(list, func(e *Error) error { return e })
	return errors.Join(all...)
}

// mistakes are the errors that join made err from.
func mistakes(err error) []*Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return []*Error{e}
	}
	return lists.Flat(err.(interface{ Unwrap() []error }).Unwrap(), mistakes)
}
