// Answers what the webhooks of Cluster API say to objects: it reads {"old": OBJECT or null, "new": OBJECT} from each line of
// stdin, and writes {"known": whether there is a webhook, "error": what it refuses} for each.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	controlplanev1beta1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	bootstrap "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	toBootstrap "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"
	controlPlane "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
	toControlPlane "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	core "sigs.k8s.io/cluster-api/core/webhooks/admission"
	toCore "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// An object of a kind, read in any of its versions.
type object[T any] interface {
	*T
	runtime.Object
}

// What a kind's webhooks say to an object: nil of one that they accept.
type review func(old, new json.RawMessage) error

// The kinds, as `GROUP KIND`.
var kinds = map[string]review{}

func register[Hub, Old any, H object[Hub], O object[Old]](
	name, version string,
	convert func(context.Context, O, H) error,
	webhook admission.Validator[H],
) {
	read := func(text json.RawMessage) (H, error) {
		var meta metav1.TypeMeta
		if err := json.Unmarshal(text, &meta); err != nil {
			return nil, err
		}
		hub := H(new(Hub))
		if meta.GroupVersionKind().Version == version {
			old := O(new(Old))
			if err := strict(text, old); err != nil {
				return nil, err
			}
			return hub, convert(context.Background(), old, hub)
		}
		return hub, strict(text, hub)
	}
	kinds[name] = func(oldText, newText json.RawMessage) error {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}}
		ctx := admission.NewContextWithRequest(context.Background(), request)
		ready := func(text json.RawMessage) (H, error) {
			read, err := read(text)
			if defaulter, ok := webhook.(admission.Defaulter[H]); ok && err == nil {
				err = defaulter.Default(ctx, read)
			}
			return read, err
		}
		object, err := ready(newText)
		if err != nil {
			return err
		}
		if len(oldText) == 0 || string(oldText) == "null" {
			_, err = webhook.ValidateCreate(ctx, object)
			return err
		}
		old, err := ready(oldText)
		if err != nil {
			return err
		}
		_, err = webhook.ValidateUpdate(ctx, old, object)
		return err
	}
}

func strict(text json.RawMessage, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func init() {
	register("cluster.x-k8s.io Machine", clusterv1beta1.GroupVersion.Version, toCore.ConvertMachineV1Beta1ToHub, &core.Machine{})
	register("cluster.x-k8s.io MachineDeployment", clusterv1beta1.GroupVersion.Version, toCore.ConvertMachineDeploymentV1Beta1ToHub, &core.MachineDeployment{})
	register("cluster.x-k8s.io MachinePool", clusterv1beta1.GroupVersion.Version, toCore.ConvertMachinePoolV1Beta1ToHub, &core.MachinePool{})
	register("cluster.x-k8s.io MachineSet", clusterv1beta1.GroupVersion.Version, toCore.ConvertMachineSetV1Beta1ToHub, &core.MachineSet{})
	register("controlplane.cluster.x-k8s.io KubeadmControlPlane", controlplanev1beta1.GroupVersion.Version, toControlPlane.ConvertKubeadmControlPlaneV1Beta1ToHub, &controlPlane.KubeadmControlPlane{})
	register("controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate", controlplanev1beta1.GroupVersion.Version, toControlPlane.ConvertKubeadmControlPlaneTemplateV1Beta1ToHub, &controlPlane.KubeadmControlPlaneTemplate{})
	register("bootstrap.cluster.x-k8s.io KubeadmConfigTemplate", bootstrapv1beta1.GroupVersion.Version, toBootstrap.ConvertKubeadmConfigTemplateV1Beta1ToHub, &bootstrap.KubeadmConfigTemplate{})
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var change struct{ Old, New json.RawMessage }
		var meta metav1.TypeMeta
		var answer struct {
			Known bool   `json:"known"`
			Error string `json:"error,omitempty"`
		}
		err := json.Unmarshal(lines.Bytes(), &change)
		if err == nil {
			err = json.Unmarshal(change.New, &meta)
		}
		if err == nil {
			kind := meta.GroupVersionKind()
			review, known := kinds[kind.Group+" "+kind.Kind]
			answer.Known = known
			if known {
				err = review(change.Old, change.New)
			}
		}
		if err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
