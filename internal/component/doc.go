// Package component lets the components of an experiment (losses, miners, models and so on)
// describe themselves. A component is one file with its options, a struct whose fields are
// the keys of a config:
//
//	type TripletOptions struct {
//		Margin float64 `yaml:"margin" check:">=0" doc:"gap between the two distances"`
//	}
//
// and registers itself in the family of its kind:
//
//	func init() {
//		Family.Register(component.Component[Options]{Name: "triplet", Doc: "triplet loss", Defaults: TripletDefaults()})
//	}
//
// The tags are those of package config, which reads the families and decodes the
// options by reflection. Checks that tags cannot express are methods of the options: see
// Checker, and the interfaces of the family's package.
package component
