//go:build helm4

package main

import (
	"bytes"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// As `helm template` reads a file of -f.
func readValues(text []byte) (map[string]any, error) {
	return loader.LoadValues(bytes.NewReader(text))
}

// The expression as a template of the chart that fixtures/oracle was recorded with.
func evaluate(partials, values, expression string) (string, error) {
	read, err := readValues([]byte(values))
	if err != nil {
		return "", err
	}
	chart := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "oracle", Version: "1.2.3", AppVersion: "4.5"},
		Templates: []*common.File{
			{Name: "templates/_helpers.tpl", Data: []byte(partials)},
			{Name: "templates/out.yaml", Data: []byte(expression)},
		},
	}
	release := common.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	root, err := util.ToRenderValues(chart, read, release, nil)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(chart, root)
	return files["oracle/templates/out.yaml"], err
}
