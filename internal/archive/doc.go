// Package archive reads zip archives of run directories as folders, and writes them.
//
// A path may lead into an archive: results/hardness.zip/mnist10k-none_seed-0/eval.json.
// Stat, ReadDir, Glob and ReadFile take such paths and plain ones. An archive is checked
// as it is opened: names that leave it, names twice, links, encrypted files and directories
// too large to hold in memory are errors that wrap ErrArchive.
package archive
