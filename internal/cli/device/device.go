// Package device is the command that lists devices which networks can compute on.
package device

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/device"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/text"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "device",
		Short: "List the GPUs and other devices that networks can compute on",
		Long: `
Networks run on the CPU, or on a device named by train.device or --device: opencl for any
OpenCL device with float64, cuda for an NVIDIA GPU. Devices need the build tercet-native
(make native), which opens the driver libraries at run time. For example, tercet-native
train CONFIG --device opencl trains on the first OpenCL device.`,
		Examples: []base.Example{
			{Why: "list the devices", Line: "tercet device list"},
		},
		Subs: []*cobra.Command{newList(s)},
	}.Build()
}

func newList(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:       "list",
		Short:     "List the devices by the names that --device takes",
		Long:      "Lists the devices of the drivers opencl and cuda. If a driver has no device, it prints the\nreason. The static build cannot open drivers.",
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "as a table", Line: "tercet device list"},
			{Why: "for a script", Line: "tercet device list --json"},
		},
		Run: func(context.Context, []string) error { return runList(s) },
	}.Build()
}

func runList(s *base.Streams) error {
	doc := printed.Devices{Schema: record.DevicesSchema, Devices: []printed.Device{}, Missing: []string{}}
	found, errs := device.List()
	for _, i := range found {
		doc.Devices = append(doc.Devices, printed.Device{Name: i.Name, Device: i.Device, Driver: i.Driver, Memory: i.Memory, Kernels: i.Kernels, Warning: i.Warning})
	}
	for _, err := range errs {
		doc.Missing = append(doc.Missing, err.Error())
	}
	return s.Result(doc, func(w io.Writer) error {
		if len(found) > 0 {
			t := base.PlainTable("name", "device", "driver", "memory", "kernels")
			for _, d := range doc.Devices {
				t.AppendRow(table.Row{d.Name, d.Device, d.Driver, text.Bytes(d.Memory), d.Kernels})
			}
			if _, err := fmt.Fprintln(w, t.Render()); err != nil {
				return err
			}
		}
		for _, d := range doc.Devices {
			if d.Warning != "" {
				fmt.Fprintf(w, "%s: %s\n", d.Name, d.Warning)
			}
		}
		for _, m := range doc.Missing {
			fmt.Fprintln(w, m)
		}
		return nil
	})
}
