//go:build helm3

package main

import (
	"errors"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

// As `helm template` reads a file of -f.
func readValues(text []byte) (map[string]any, error) {
	values := map[string]any{}
	err := yaml.Unmarshal(text, &values)
	return values, err
}

// The expression as a template of the chart that fixtures/oracle was recorded with.
func evaluate(partials, values, expression string) (string, error) {
	read, err := readValues([]byte(values))
	if err != nil {
		return "", err
	}
	chart := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "oracle", Version: "1.2.3", AppVersion: "4.5"},
		Templates: []*chart.File{
			{Name: "templates/_helpers.tpl", Data: []byte(partials)},
			{Name: "templates/out.yaml", Data: []byte(expression)},
		},
	}
	release := chartutil.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	root, err := chartutil.ToRenderValues(chart, read, release, nil)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(chart, root)
	return files["oracle/templates/out.yaml"], err
}

func render(chart, folder, out string) error {
	return errors.New("the benchmark's job is Helm 4's")
}
