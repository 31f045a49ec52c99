package kernel

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

func TestForceSwitchesAndRestores(t *testing.T) {
	was := Current()
	for _, l := range Levels() {
		restore, err := Force(l)
		if err != nil || Current() != l {
			t.Fatalf("%v: current %v, %v", l, Current(), err)
		}
		restore()
		if Current() != was {
			t.Fatalf("%v: not restored", l)
		}
	}
	if _, err := Force(Level(77)); err == nil || Current() != was {
		t.Fatalf("forced an unknown level: %v", err)
	}
}

func TestLevelsBeginWithGenericAndAreACopy(t *testing.T) {
	l := Levels()
	if l[0] != Generic || !slices.IsSorted(l) {
		t.Fatalf("levels %v", l)
	}
	l[0] = 9
	if Levels()[0] != Generic {
		t.Fatal("Levels gave away the package's list")
	}
}

func TestParseLevel(t *testing.T) {
	for _, l := range []Level{Generic, AVX2, AVX512, AMX} {
		if got, err := parseLevel(l.String()); got != l || err != nil {
			t.Errorf("%v: %v, %v", l, got, err)
		}
	}
	if _, err := parseLevel("AVX512"); err == nil || !strings.Contains(err.Error(), "generic, avx2, avx512, amx") {
		t.Errorf("unknown name: %v", err)
	}
	if got := Level(9).String(); got != "level(9)" {
		t.Errorf("Level(9) is %s", got)
	}
}

// The variable is read at start, so each case is a process of its own.
func TestEnvironmentForcesLevel(t *testing.T) {
	if os.Getenv("TERCET_TEST_CHILD") != "" {
		os.Stdout.WriteString("level=" + Current().String() + "\n")
		if err := StartError(); err != nil {
			os.Stdout.WriteString("error=" + err.Error() + "\n")
		}
		return
	}
	run := func(value string) string {
		c := exec.Command(os.Args[0], "-test.run", "^TestEnvironmentForcesLevel$")
		c.Env = append(os.Environ(), "TERCET_TEST_CHILD=1", EnvLevel+"="+value)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", value, err, out)
		}
		return string(out)
	}
	levels := Levels()
	best := min(levels[len(levels)-1], AVX512).String() // amx is by choice only
	for _, l := range levels {
		if out := run(l.String()); !strings.Contains(out, "level="+l.String()+"\n") || strings.Contains(out, "error=") {
			t.Errorf("%v: %s", l, out)
		}
	}
	if out := run(""); !strings.Contains(out, "level="+best+"\n") || strings.Contains(out, "error=") {
		t.Errorf("empty: %s", out)
	}
	bad := []string{"sse9"}
	for _, l := range []Level{AVX2, AVX512, AMX} {
		if !slices.Contains(levels, l) {
			bad = append(bad, l.String())
		}
	}
	for _, b := range bad {
		if out := run(b); !strings.Contains(out, "level="+best+"\n") || !strings.Contains(out, "error=environment variable TERCET_KERNEL: ") || !strings.Contains(out, b) {
			t.Errorf("%s: %s", b, out)
		}
	}
}

// The instruction is written in bytes: a mistake in them would end the process.
func TestPeakBF16CountsWhereTheProcessorHasIt(t *testing.T) {
	want := 0.0
	if cpu.X86.HasAVX512BF16 && slices.Contains(Levels(), AVX512) {
		want = 7 * 24 * 16 * 4
	}
	if got := PeakBF16(7); got != want {
		t.Errorf("%v operations, want %v", got, want)
	}
	if got := PeakBF16(0); got != 0 {
		t.Errorf("%v operations in no step", got)
	}
}
