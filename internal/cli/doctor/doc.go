// Package doctor is the command that examines the installation.
package doctor
