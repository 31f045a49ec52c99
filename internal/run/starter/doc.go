// Package starter begins configs: it looks at a folder of images and writes what trains on it.
package starter
