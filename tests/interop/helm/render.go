//go:build helm4

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// Renders the benchmark's chart once for each cluster: the chart and the shared values are read once, and no process is started
// for a cluster, which the helm command cannot do. Reads FOLDER/values.yaml, FOLDER/os-images-info.yaml and
// FOLDER/clusters/*/values.yaml; writes OUT/NAME.yaml.
func render(chartFolder, folder, out string) error {
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		return err
	}
	for _, name := range []string{"os-images-info.yaml", "values.yaml"} {
		layer, err := common.ReadValuesFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		chart.Values = util.MergeTables(layer, chart.Values)
	}
	clusters, err := filepath.Glob(filepath.Join(folder, "clusters", "*", "values.yaml"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, path := range clusters {
		values, err := common.ReadValuesFile(path)
		if err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		release := common.ReleaseOptions{Name: name, Namespace: name, IsInstall: true}
		rendered, err := util.ToRenderValues(chart, values, release, common.DefaultCapabilities)
		if err != nil {
			return err
		}
		files, err := engine.Render(chart, rendered)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		text := []byte(files["fleet/templates/machines.yaml"])
		if err := os.WriteFile(filepath.Join(out, name+".yaml"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
