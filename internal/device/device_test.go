package device

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]string{
		"": "cpu 0", "cpu": "cpu 0", "opencl": "opencl 0", "cuda:12": "cuda 12", "opencl:1": "opencl 1",
		"gpu": "", "cuda:": "", "cuda:-1": "", "cuda:01": "", "opencl:1:2": "", "CUDA": "", "cpu:1": "", "opencl:99999999999999999999": "",
	} {
		driver, n, err := Parse(name)
		got := fmt.Sprint(driver, " ", n)
		if err != nil {
			got = ""
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// The PTX in the program must be that of the kernels that the tests run through OpenCL.
func TestPTXIsOfTheseKernels(t *testing.T) {
	sums, err := os.ReadFile("kernels.sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kernels.dev", "kernels.ptx"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), name); !strings.Contains(string(sums), want) {
			t.Errorf("%s has changed: run make ptx", name)
		}
	}
	dev, _ := os.ReadFile("kernels.dev")
	text, _ := os.ReadFile("kernels.ptx")
	want := strings.Count(string(dev), "\nKERNEL void ") - 1 + strings.Count(string(dev), "\nGEMM(")
	if got := strings.Count(string(text), ".entry "); got != want {
		t.Errorf("the PTX has %d kernels, the source %d", got, want)
	}
	if strings.Contains(string(text), "atom.") || strings.Contains(string(text), "red.global") {
		t.Error("a kernel has an atomic operation: the order of its sums is not fixed")
	}
}

func TestStaticBuild(t *testing.T) {
	if Native {
		t.Skip("this is the native build: make gpu-test tests its devices")
	}
	if _, err := Open("opencl"); !errors.Is(err, ErrStatic) {
		t.Errorf("Open: %v", err)
	}
	if _, errs := List(); len(errs) != 1 || !errors.Is(errs[0], ErrStatic) {
		t.Errorf("List: %v", errs)
	}
	t.Skip("the kernels themselves are tested by make gpu-test (apt-get install pocl-opencl-icd ocl-icd-libopencl1)")
}
