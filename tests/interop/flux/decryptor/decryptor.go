// Package decryptor stands for the one of kustomize-controller, which brings key services of four clouds and a third of the build.
// Nothing that the tests reconcile is encrypted.
package decryptor

import (
	"context"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/cache"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/resource"
)

type (
	// Decryptor leaves everything as it is.
	Decryptor struct{}
	// Option changes nothing.
	Option = struct{}
)

func WithRoot(string) Option                      { return Option{} }
func WithTokenCache(cache.TokenCache) Option      { return Option{} }
func WithSOPSAgeSecret(string, string) Option     { return Option{} }
func WithVaultConfigMap(string, string) Option    { return Option{} }
func IsDecryptionDisabled(map[string]string) bool { return true }

func IsEncryptedSecret(*unstructured.Unstructured) bool { return false }

func New(client.Client, *kustomizev1.Kustomization, ...Option) (*Decryptor, func(), error) {
	return new(Decryptor), func() {}, nil
}

func (*Decryptor) ImportKeys(context.Context) error { return nil }
func (*Decryptor) SetAuthOptions(context.Context)   {}
func (*Decryptor) DecryptSources(string) error      { return nil }
func (*Decryptor) DecryptResource(*resource.Resource) (*resource.Resource, error) {
	return nil, nil
}
