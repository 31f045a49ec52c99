// Package newimages applies a trained network to images that it has never met, labeled or
// not: lists them, decodes them as those that it was trained on, and embeds them into a
// folder.
package newimages
