package base

import (
	"github.com/spf13/pflag"

	"tercet/internal/engine/nn/gpu"
)

// AddDevice adds the flag that says where networks compute.
func AddDevice(fs *pflag.FlagSet, to *string, standard string) {
	fs.StringVar(to, "device", "", "where to run the network, `NAME`: cpu, opencl, cuda, or opencl:1 and so on for further devices (tercet device list); "+standard)
}

// OpenDevice opens the device that the flag names, if it does, for all networks of this
// command.
func OpenDevice(s *Streams, name string) error {
	info, err := gpu.Open(name)
	if err != nil {
		return &ExitError{Code: ExitUsage, Err: err}
	}
	for _, line := range info.Words() {
		s.Note("%s", line)
	}
	return nil
}
