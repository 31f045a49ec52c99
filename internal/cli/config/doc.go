// Package config is the command that checks, shows and begins configs.
package config
