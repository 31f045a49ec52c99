// Package embed is the command that embeds images into a folder.
package embed
