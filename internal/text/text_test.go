package text

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Plural(1, "query", "queries"), "1 query"},
		{Plural(0, "query", "queries"), "0 queries"},
		{Count(1, "row"), "1 row"},
		{Count(12, "row"), "12 rows"},
		{List(nil, "or"), ""},
		{List([]string{"a"}, "or"), "a"},
		{List([]string{"a", "b"}, "and"), "a and b"},
		{List(strings.Fields("a b c"), "or"), "a, b or c"},
		{Some(nil), ""},
		{Some(strings.Fields("a b c d e f")), "a, b, c, d, e, f"},
		{Some(strings.Fields("a b c d e f g h")), "a, b, c, d, e, f and 2 more"},
		{Eps("linf", 77.0/255), "77/255"},
		{Eps("linf", 7.7/255), "7.7/255"},
		{Eps("linf", 0.03), "0.03"},
		{Eps("linf", 0), "0"},
		{Eps("linf", 1e-10), "1e-10"}, // not 0/255
		{EpsExact("linf", 1e-12), "1e-12"},
		{Eps("l2", 77.0/255), "0.30196"},
		{EpsExact("linf", 77.0/255), "77/255"},
		{EpsExact("linf", 0), "0/255"},
		{EpsExact("linf", 7.7/255), "0.03019607843137255"},
		{EpsExact("l2", 1), "1"},
		{Duration(0.25), "0.2 s"},
		{Duration(9.96), "10.0 s"},
		{Duration(45.4), "45 s"},
		{Duration(723.4), "12m3s"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestYAML(t *testing.T) {
	for s, want := range map[string]string{"a/b-1.png": "a/b-1.png", "": `""`, "a: b": `"a: b"`, "1": `"1"`, "#a": `"#a"`, "yes": `"yes"`, "nan": `"nan"`} {
		if got := YAML(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
