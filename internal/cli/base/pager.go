package base

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// SetPager chooses the shell command that shows long results, by the environment: TERCET_PAGER,
// else PAGER, else less; none where on is false, it is empty or cat, or Out is no terminal that
// can move.
func (s *Streams) SetPager(on bool, lookup func(string) (string, bool)) {
	s.pager = ""
	if kind, _ := lookup("TERM"); on && !s.JSON && isTerminal(s.Written.w) && kind != "dumb" {
		s.pager = pagerOf(lookup)
	}
}

// pagerOf is the shell command by the environment.
func pagerOf(lookup func(string) (string, bool)) string {
	for _, name := range []string{"TERCET_PAGER", "PAGER"} {
		if command, ok := lookup(name); ok {
			if command = strings.TrimSpace(command); command == "cat" {
				return ""
			}
			return command
		}
	}
	return "less"
}

// paged prints what text writes, by the pager where it is longer than the terminal. A pager
// that cannot be started leaves the text as it is.
func (s *Streams) paged(text func(w io.Writer) error) error {
	if s.pager == "" {
		return text(s.Out)
	}
	var b bytes.Buffer
	if err := text(&b); err != nil || !s.tall(b.Bytes()) {
		_, e := s.Out.Write(b.Bytes())
		return errors.Join(err, e)
	}
	s.mu.Lock() // notes wait: the screen is the pager's
	defer s.mu.Unlock()
	cmd := exec.Command("sh", "-c", s.pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b.Bytes()), s.Written.w, s.Err
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(os.Environ(), "LESS=FRX") // colors stay, and a short text ends it
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() != notFound {
		return nil // how the user left it is no error
	}
	_, err = s.Out.Write(b.Bytes())
	return err
}

// notFound is the exit code of a shell that does not know a command.
const notFound = 127

// tall says whether a text has more lines than the terminal, long ones counted as they are
// wrapped.
func (s *Streams) tall(text []byte) bool {
	f, ok := s.Written.w.(*os.File)
	if !ok {
		return false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return err == nil && lineCount(text, width) >= height
}

// lineCount is the number of lines of a text on a terminal so many characters wide.
func lineCount(text []byte, width int) int {
	n := 0
	for line := range bytes.Lines(text) {
		n += 1 + max(0, len([]rune(string(bytes.TrimSuffix(line, []byte("\n")))))-1)/max(width, 1)
	}
	return n
}
