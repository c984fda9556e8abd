// What Argo CD's repo-server asks a plugin for one Application, with Argo CD's own client, packing and environment.
// Prints one JSON object: the environment, and the answer to each of the four calls.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/golang/protobuf/ptypes/empty"
	"sigs.k8s.io/yaml"

	"github.com/argoproj/argo-cd/v3/cmpserver/apiclient"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/cmp"
)

type answer struct {
	Environment []string `json:"environment"`
	Discovery   bool     `json:"discovery"`
	Matches     bool     `json:"matches"`
	Manifests   []string `json:"manifests"`
	Parameters  any      `json:"parameters"`
	Errors      []string `json:"errors"`
}

func main() {
	socket := flag.String("socket", "", "the plugin's socket")
	repository := flag.String("repository", "", "the repository's folder")
	manifest := flag.String("app", "", "the Application's manifest")
	revision := flag.String("revision", "", "the commit")
	kubeVersion := flag.String("kube-version", "", "the destination's version, as the repo-server has parsed it")
	flag.Parse()
	if err := run(*socket, *repository, *manifest, *revision, *kubeVersion); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(socket, repository, manifest, revision, kubeVersion string) error {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var app v1alpha1.Application
	if err := yaml.Unmarshal(text, &app); err != nil {
		return err
	}
	source := app.Spec.GetSource()
	environment, err := environ(&app, &source, revision, kubeVersion)
	if err != nil {
		return err
	}
	conn, client, err := apiclient.NewConfigManagementPluginClientSet(socket).NewConfigManagementPluginClient()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()

	path := filepath.Join(repository, source.Path)
	found := answer{Environment: environment}
	failed := func(err error) bool {
		if err != nil {
			found.Errors = append(found.Errors, err.Error())
		}
		return err != nil
	}
	if config, err := client.CheckPluginConfiguration(ctx, &empty.Empty{}); !failed(err) {
		found.Discovery = config.IsDiscoveryConfigured
	}
	if stream, err := client.MatchRepository(ctx); !failed(err) && !failed(cmp.SendRepoStream(ctx, path, repository, stream, environment, nil)) {
		if match, err := stream.CloseAndRecv(); !failed(err) {
			found.Matches = match.IsSupported
		}
	}
	if stream, err := client.GenerateManifest(ctx); !failed(err) && !failed(cmp.SendRepoStream(ctx, path, repository, stream, environment, nil)) {
		if generated, err := stream.CloseAndRecv(); !failed(err) {
			found.Manifests = generated.Manifests
		}
	}
	if stream, err := client.GetParametersAnnouncement(ctx); !failed(err) && !failed(cmp.SendRepoStream(ctx, path, repository, stream, environment, nil)) {
		if announced, err := stream.CloseAndRecv(); !failed(err) {
			found.Parameters = announced.ParameterAnnouncements
		}
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// environ is what newEnv and getPluginEnvs of Argo CD's reposerver/repository/repository.go do: those are not exported, what
// they call is.
func environ(app *v1alpha1.Application, source *v1alpha1.ApplicationSource, revision, kubeVersion string) ([]string, error) {
	base := v1alpha1.Env{
		{Name: "ARGOCD_APP_NAME", Value: app.InstanceName("argocd")},
		{Name: "ARGOCD_APP_NAMESPACE", Value: app.Spec.Destination.Namespace},
		{Name: "ARGOCD_APP_PROJECT_NAME", Value: app.Spec.GetProject()},
		{Name: "ARGOCD_APP_REVISION", Value: revision},
		{Name: "ARGOCD_APP_REVISION_SHORT", Value: revision[:7]},
		{Name: "ARGOCD_APP_REVISION_SHORT_8", Value: revision[:8]},
		{Name: "ARGOCD_APP_SOURCE_REPO_URL", Value: source.RepoURL},
		{Name: "ARGOCD_APP_SOURCE_PATH", Value: source.Path},
		{Name: "ARGOCD_APP_SOURCE_TARGET_REVISION", Value: source.TargetRevision},
	}
	variables := append(base.Environ(), "KUBE_VERSION="+kubeVersion, "KUBE_API_VERSIONS=")
	if source.Plugin == nil {
		return variables, nil
	}
	var known v1alpha1.Env
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		known = append(known, &v1alpha1.EnvEntry{Name: name, Value: value})
	}
	for _, entry := range source.Plugin.Env {
		variables = append(variables, fmt.Sprintf("ARGOCD_ENV_%s=%s", entry.Name, known.Envsubst(entry.Value)))
	}
	parameters, err := source.Plugin.Parameters.Environ()
	return append(variables, parameters...), err
}
