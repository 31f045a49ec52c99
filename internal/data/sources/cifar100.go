package sources

import (
	"context"
	"strings"

	"tercet/internal/component"
	"tercet/internal/data"
)

func init() {
	data.Family.Register(component.Component[data.Source]{Name: "cifar100", Doc: "CIFAR-100, binary version", Defaults: CIFAR100Options{Labels: "fine"}})
}

// CIFAR100Options are a folder with the binary version of CIFAR-100 (Krizhevsky 2009):
// each image has a fine label and a coarse one.
type CIFAR100Options struct {
	Root   string `yaml:"root" doc:"folder with train.bin and test.bin"`
	Labels string `yaml:"labels" enum:"fine|coarse" doc:"fine: 100 classes; coarse: the 20 classes that these belong to"`
}

// A record has the coarse label, then the fine one.
var cifar100 = map[string]cifar{
	"coarse": {
		name: "CIFAR-100", bytes: 2, label: 0, names: "coarse_label_names.txt",
		classes: strings.Fields(`aquatic_mammals fish flowers food_containers fruit_and_vegetables
			household_electrical_devices household_furniture insects large_carnivores large_man-made_outdoor_things
			large_natural_outdoor_scenes large_omnivores_and_herbivores medium_mammals non-insect_invertebrates people
			reptiles small_mammals trees vehicles_1 vehicles_2`),
	},
	"fine": {
		name: "CIFAR-100", bytes: 2, label: 1, names: "fine_label_names.txt",
		classes: strings.Fields(`apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus
			butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup
			dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard
			lion lizard lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree
			pear pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal
			shark shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone
			television tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm`),
	},
}

// Traits implements data.Source.
func (CIFAR100Options) Traits() data.Traits {
	return data.Traits{
		About: "CIFAR-100, binary version: RGB images of 32x32 with fine or coarse labels",
		Needs: "root: a folder with train.bin and test.bin",
	}
}

// Missing implements data.Needy.
func (s CIFAR100Options) Missing(bool) []component.Fault { return data.NoRoot(s.Root) }

// Open implements data.Source.
func (s CIFAR100Options) Open(ctx context.Context, o data.Options) (data.Dataset, data.Dataset, error) {
	return o.Rooted(ctx, s.Root, func(root string) (*data.Memory, *data.Memory, error) {
		return cifar100[s.Labels].open(root, "train.bin", "test.bin")
	})
}
