// Package proctest lets tests run the program as a process of its own: the test
// binary is the program when an environment variable says so. Nothing has to be
// built first, and a test under the race detector or with another instruction
// set runs the program built in the same way.
package proctest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"tercet/internal/cli"
)

// childKey in the environment turns the test binary into the program.
const childKey = "TERCET_TEST_CHILD"

// execKey in the environment names the command that runs the test binary, as the flag
// -exec of go test does: an emulator of another architecture.
const execKey = "TERCET_TEST_EXEC"

// Main is the whole TestMain of a package that calls Command.
func Main(m *testing.M) {
	if os.Getenv(childKey) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// Command is the program with args as a process that has not started yet. env
// ("KEY=value") is added to the environment of the test.
func Command(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := append(append(strings.Fields(os.Getenv(execKey)), self), args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(append(os.Environ(), childKey+"=1"), env...)
	return cmd
}
