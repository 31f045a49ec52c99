package base

import (
	"github.com/spf13/cobra"

	"tercet/internal/config"
)

// ConfigFlags are the flags of every command that reads a config.
type ConfigFlags struct {
	Path string
	Sets []string
}

// AddFlags adds the flags of a config: its file and changes of its keys.
func (c *ConfigFlags) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.Path, "config", "c", "", "config `FILE` (YAML); without one, the defaults")
	c.AddSet(cmd)
}

// AddSet adds the flag that changes keys of a config.
func (c *ConfigFlags) AddSet(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.Sets, "set", nil, "`KEY=VALUE` to lay over the config, such as optimizer.lr=1e-4; can be repeated")
}

// Load reads the config that the flags name.
func (c *ConfigFlags) Load() (*config.Config, error) { return config.Load(c.Path, c.Sets) }
