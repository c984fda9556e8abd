// The real programs of Argo CD that tests start: what its cmd/main.go starts under these names, without the others.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	applicationset "github.com/argoproj/argo-cd/v3/cmd/argocd-applicationset-controller/commands"
	cmpserver "github.com/argoproj/argo-cd/v3/cmd/argocd-cmp-server/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/argoproj/argo-cd/v3/common"
)

func main() {
	programs := map[string]func() *cobra.Command{
		common.CommandApplicationController:    controller.NewCommand,
		common.CommandApplicationSetController: applicationset.NewCommand,
		common.CommandCMPServer:                cmpserver.NewCommand,
		common.CommandRepoServer:               reposerver.NewCommand,
	}
	program := programs[filepath.Base(os.Args[0])]
	if program == nil {
		fmt.Fprintln(os.Stderr, "start it under the name of a program of Argo CD, such as argocd-repo-server")
		os.Exit(2)
	}
	if err := program().Execute(); err != nil {
		os.Exit(1)
	}
}
