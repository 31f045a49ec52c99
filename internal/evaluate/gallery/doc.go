// Package gallery evaluates files of vectors that need not fit into memory: in one process
// that resumes where it was stopped, or in tasks, each on a part of the gallery, whose
// counts are merged. All give the scores of package evaluate, to the bit.
package gallery
