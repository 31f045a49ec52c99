package data

import "tercet/internal/component"

func init() {
	Family.Register(component.Component[Source]{Name: "cifar10", Doc: "CIFAR-10, binary version", Defaults: CIFAR10Options{}})
}

// CIFAR10Options are a folder with the binary version of CIFAR-10.
type CIFAR10Options struct {
	Root string `yaml:"root" doc:"folder with data_batch_*.bin and test_batch.bin"`
}

var cifar10 = cifar{
	name: "CIFAR-10", bytes: 1, names: "batches.meta.txt",
	classes: []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"},
}

// Traits implements Source.
func (CIFAR10Options) Traits() Traits {
	return Traits{About: "CIFAR-10, binary version: RGB images of 32x32", Needs: "root: a folder with data_batch_*.bin and test_batch.bin"}
}

// Missing implements Needy.
func (s CIFAR10Options) Missing(bool) []component.Fault { return noRoot(s.Root) }

// Open implements Source.
func (s CIFAR10Options) Open(o Options) (Dataset, Dataset, error) {
	return o.rooted(s.Root, func(root string) (*Memory, *Memory, error) {
		return cifar10.open(root, "data_batch_*.bin", "test_batch.bin")
	})
}
