package sources

import (
	"context"
	"tercet/internal/component"
	"tercet/internal/data"
)

func init() {
	data.Family.Register(component.Component[data.Source]{Name: "cifar10", Doc: "CIFAR-10, binary version", Defaults: CIFAR10Options{}})
}

// CIFAR10Options are a folder with the binary version of CIFAR-10.
type CIFAR10Options struct {
	Root string `yaml:"root" doc:"folder with data_batch_*.bin and test_batch.bin"`
}

var cifar10 = cifar{
	name: "CIFAR-10", bytes: 1, names: "batches.meta.txt",
	classes: []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
}

// Traits implements data.Source.
func (CIFAR10Options) Traits() data.Traits {
	return data.Traits{About: "CIFAR-10, binary version: RGB images of 32x32", Needs: "root: a folder with data_batch_*.bin and test_batch.bin"}
}

// Missing implements data.Needy.
func (s CIFAR10Options) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

// Open implements data.Source.
func (s CIFAR10Options) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return o.Rooted(ctx, s.Root, func(root string) (*data.Memory, *data.Memory, error) {
		return cifar10.open(root, "data_batch_*.bin", "test_batch.bin")
	})
}
