package config

// source is what a config was built from.
type source struct{}
