package main

import (
	"context"

	infrav1beta1 "github.com/metal3-io/cluster-api-provider-metal3/api/v1beta1"
	infrav1 "github.com/metal3-io/cluster-api-provider-metal3/api/v1beta2"
	infra "github.com/metal3-io/cluster-api-provider-metal3/internal/webhooks/v1beta2"
)

// The webhooks of CAPM3, whose module can be built in a checkout of it alone.
func init() {
	register("infrastructure.cluster.x-k8s.io Metal3MachineTemplate", infrav1beta1.GroupVersion.Version,
		func(_ context.Context, old *infrav1beta1.Metal3MachineTemplate, hub *infrav1.Metal3MachineTemplate) error {
			return old.ConvertTo(hub)
		}, &infra.Metal3MachineTemplate{})
	register("infrastructure.cluster.x-k8s.io Metal3Cluster", infrav1beta1.GroupVersion.Version,
		func(_ context.Context, old *infrav1beta1.Metal3Cluster, hub *infrav1.Metal3Cluster) error {
			return old.ConvertTo(hub)
		}, &infra.Metal3Cluster{})
}
