package base

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tercet/internal/testutil"
)

// terminal returns both ends of a terminal of 8 lines.
func terminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 8, Col: 20}); err != nil {
		t.Fatal(err)
	}
	return screen, program
}

func TestPager(t *testing.T) {
	file := filepath.Join(t.TempDir(), "paged")
	long, wrapped := strings.Repeat("line\n", 9), strings.Repeat("x", 150)+"\n"
	for _, c := range []struct {
		env, text string
		on        bool
		paged     bool
	}{
		{"TERCET_PAGER=cat > " + file + "\nPAGER=false", long, true, true},
		{"PAGER=cat > " + file, wrapped, true, true},
		{"PAGER=cat > " + file, "short\n", true, false},
		{"PAGER=cat > " + file, long, false, false},
		{"PAGER=cat", long, true, false},
		{"TERCET_PAGER=\nPAGER=cat > " + file, long, true, false},
		{"PAGER=cat > " + file + "\nTERM=dumb", long, true, false},
		{"PAGER=no-such-pager-anywhere", long, true, false}, // printed as it is
	} {
		os.Remove(file) // of the case before
		env := map[string]string{"TERM": "xterm"}
		for line := range strings.Lines(c.env) {
			key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			env[key] = value
		}
		screen, program := terminal(t)
		s := NewStreams(nil, program, io.Discard)
		s.SetPager(c.on, func(key string) (string, bool) { v, ok := env[key]; return v, ok })
		if err := s.Result(nil, func(w io.Writer) error { _, err := io.WriteString(w, c.text); return err }); err != nil {
			t.Errorf("%q: %v", c.env, err)
		}
		if c.paged {
			if got := testutil.Read(t, file); got != c.text {
				t.Errorf("%q: the pager got %q", c.env, got)
			}
			continue
		}
		shown := make([]byte, 4096)
		n, err := screen.Read(shown)
		if got := strings.ReplaceAll(string(shown[:n]), "\r\n", "\n"); err != nil || got != c.text {
			t.Errorf("%q: shown %q (%v)", c.env, got, err)
		}
	}
	var b bytes.Buffer
	s := NewStreams(nil, &b, io.Discard)
	s.SetPager(true, func(key string) (string, bool) { return "false", key == "PAGER" })
	if err := s.Result(nil, func(w io.Writer) error { _, err := io.WriteString(w, long); return err }); err != nil || b.String() != long {
		t.Errorf("no terminal: %q (%v)", b.String(), err)
	}
	if got := lineCount([]byte("a\n"+strings.Repeat("é", 20)+"\n"+strings.Repeat("é", 21)), 20); got != 4 {
		t.Errorf("%d lines, want 4", got)
	}
}

// More and less notes.
func TestVolume(t *testing.T) {
	for level, want := range map[int]string{-2: "tercet: bad\n", -1: "tercet: bad\n", 0: "note\ntercet: bad\n", 1: "note\ndetail\ntercet: bad\n"} {
		var b bytes.Buffer
		s := NewStreams(nil, io.Discard, &b)
		s.SetVolume(level)
		s.Note("note")
		s.Detail("detail")
		s.Report(fmt.Errorf("bad"), ExitFailed)
		if b.String() != want {
			t.Errorf("level %d: %q, want %q", level, b.String(), want)
		}
	}
}
