// Package config is the typed schema of an experiment and its strict reader.
//
// A section is a struct whose tags carry everything that is known about a key:
//
//	yaml:"margin"       its name
//	check:">0,<=2"      the values it may take (for a list: each item)
//	enum:"mean|sum"     the words it may take
//	units:"steps,epochs" the units of a Span, the first one for bare numbers
//	oneof:"length"      keys of which a later layer's choice replaces an earlier one's
//	was:"variant"       its former name, still read
//	words:"old=new"     words that it took under that name, split by |
//	omit:"none"         its default, with which resolved configs leave it out: a key
//	                    that came later, so that older configs keep their bytes
//	steps:"any"         it lists steps of transform.Family: any, or fixed ones alone
//	doc:"..."           one line for help and the JSON Schema
//
// A section with a field tagged choice:"family" is polymorphic: the value of
// that key names a component of the family, whose own keys are added to the
// section's common ones, and are decoded into the section's Options field.
// Components register themselves in families: see package component.
package config
