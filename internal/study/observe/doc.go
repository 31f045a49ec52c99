// Package observe reads what the files of runs say at sources, as a Description has it: an
// Observation is one result of a run, with fields (text), scores (numbers), its curve during
// training and the values of its queries. Where and Fill are conditions on sources and
// templates with them.
package observe
