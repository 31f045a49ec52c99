// Package inspect describes the data of a config or of files and draws some of the images.
package inspect
