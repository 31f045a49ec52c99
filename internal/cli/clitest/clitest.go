package clitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"

	"tercet/internal/cli"
	"tercet/internal/testutil"
)

// FewGlyphs are overrides that make the built-in data small.
const FewGlyphs = " --set data.glyphs.classes=6 --set data.glyphs.test_classes=3 --set data.glyphs.per_class=4 --set batch.pairs=4"

// RunJSON decodes what a command line prints with --json.
func RunJSON(t *testing.T, line string, into any) {
	t.Helper()
	code, out, stderr := Run(strings.Fields(line)...)
	if code != 0 {
		t.Fatalf("tercet %s: exit code %d, %s", line, code, stderr)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("tercet %s: %v in %s", line, err, out)
	}
}

// SignalAt is stderr that sends the process a signal, SIGTERM where it is 0, once it
// reads a text.
type SignalAt struct {
	Text string
	Sig  syscall.Signal
	sent bool
	All  []byte
}

func (s *SignalAt) Write(p []byte) (int, error) {
	s.All = append(s.All, p...)
	if !s.sent && strings.Contains(string(s.All), s.Text) {
		s.sent = true
		me, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = me.Signal(cmp.Or(s.Sig, syscall.SIGTERM))
		}
		if err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Tiny is a run of 18 steps on 72 images of 16x16 pixels.
const Tiny = testutil.Tiny

// InTiny moves the test to an empty folder with tiny.yaml.
func InTiny(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	WriteFile(t, "tiny.yaml", Tiny)
}

// Must runs a command line that has to end with the code, and returns stdout.
func Must(t *testing.T, code int, line string) string {
	t.Helper()
	got, out, stderr := Run(ShellWords(line)...)
	if got != code {
		t.Fatalf("tercet %s: exit code %d, want %d\n%s", line, got, code, stderr)
	}
	if code != 0 && out != "" && !strings.Contains(line, "--fail-") {
		t.Errorf("tercet %s: an error left %q on stdout", line, out)
	}
	return out
}

// Refuse runs a command line that has to end with the code and one line on
// stderr, beside notes, that contains want.
func Refuse(t *testing.T, code int, line, want string) {
	t.Helper()
	got, out, stderr := Run(ShellWords(line)...)
	errors := 0
	for _, l := range strings.Split(stderr, "\n") {
		if strings.HasPrefix(l, "tercet: ") {
			errors++
		}
	}
	if got != code || errors != 1 || !strings.Contains(stderr, want) || strings.Contains(stderr, "internal error") {
		t.Errorf("tercet %s\ngot  %d, %s\nwant %d, %q", line, got, stderr, code, want)
	}
	if out != "" {
		t.Errorf("tercet %s: an error left %q on stdout", line, out)
	}
}

// Document decodes the one JSON document that a command line prints.
func Document(t *testing.T, line string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(Must(t, 0, line+" --json")))
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil || dec.More() {
		t.Fatalf("tercet %s: not one document: %v", line, err)
	}
	return doc
}

// ShellWords splits a command line as a shell does, for plain words and single
// and double quotes.
func ShellWords(line string) []string {
	var out []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

// Run runs a command line with buffers for streams.
func Run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = cli.Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// HasRow says that a table has a row with these words.
func HasRow(table string, want ...string) bool {
	for _, line := range strings.Split(table, "\n") {
		if strings.Join(strings.Fields(line), " ") == strings.Join(want, " ") {
			return true
		}
	}
	return false
}
