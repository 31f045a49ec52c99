// Package rundir reads run directories by their public files: a run as its documents say.
//
// Find lists the directories that patterns name; Read takes the manifest, the results and
// the pictures of one. A document of another run, of other images or of other weights than
// asked for is left out and named in Run.Left. Warnings say what makes the scores of runs
// less than they seem, such as a stale result or a checkpoint chosen on test images;
// Unlike, which scores are not measured in the same way and have no mean.
package rundir
