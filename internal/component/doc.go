// Package component is how the parts of an experiment describe themselves: losses,
// miners, models and the like. A part is one file with its options, a struct whose
// fields are the keys of a config:
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
// options by reflection. What tags cannot say, the options say in methods: see
// Checker, and the interfaces of the family's package.
package component
