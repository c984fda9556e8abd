// The benchmark's job as a careful user of jsonnet does it: one process, each shared file parsed once, a file a cluster.
//
//     jrsonnet -y -J FLEET -m OUT fleet.jsonnet
//
// The import path has the fleet's folder with its files, and clusters.libsonnet there: the text of each cluster's values by
// its name, because jsonnet imports nothing by a computed path. The patterns of selectors are jrsonnet's own functions,
// behind its feature exp-regex; standard jsonnet has no patterns.

local shared = std.parseYaml(importstr 'values.yaml');
local images = std.parseYaml(importstr 'os-images-info.yaml').os_images;
local clusters = import 'clusters.libsonnet';

local flavors = { cabpr: 'rke2', cabpk: 'kubeadm' };

local fits(image, selector) = std.all([
  std.regexFullMatch('(?:%s)' % std.toString(selector[fact]), std.toString(std.get(image, fact, ''))) != null
  for fact in std.objectFields(selector)
]);

local holds(image, version, flavor) = image['k8s-version'] == version && image['k8s-flavor'] == flavor;

// The one image that a selector matches among those of the version and flavor.
local selected(selector, version, flavor) =
  local found = [image for image in std.objectValues(images) if holds(image, version, flavor) && fits(image, selector)];
  if std.length(found) == 1 then found[0]
  else error '%d images of %s %s match %s' % [std.length(found), flavor, version, selector];

local named(key, version, flavor) =
  local image = if key in images then images[key] else error 'unknown image ' + key;
  if holds(image, version, flavor) then image
  else error 'the image holds %s, %s is asked for' % [image['k8s-version'], version];

// A pool's machine template, named after its content.
local template(cluster, pool, settings) =
  local version = std.lstripChars(cluster.k8s_version, 'v');
  local flavor = flavors[cluster.capi_providers.bootstrap_provider];
  local image =
    if 'image_key' in settings then named(settings.image_key, version, flavor)
    else selected(settings.os_image_selector, version, flavor);
  local spec = {
    template: {
      spec: {
        hostSelector: std.get(settings, 'hostSelector', {}),
        image: {
          checksum: image.sha256,
          checksumType: settings.machine_image_checksum_type,
          format: image['image-format'],
          url: 'https://os-images.example.org/' + image.filename,
        },
      },
    },
  };
  {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
    kind: 'Metal3MachineTemplate',
    metadata: {
      name: '%s-%s-%s' % [cluster.name, pool, std.substr(std.sha256(std.manifestJsonMinified(spec)), 0, 10)],
      namespace: cluster.name,
      labels: { 'cluster.x-k8s.io/cluster-name': cluster.name },
    },
    spec: spec,
  };

// Each pool's settings are the cluster's with its own over them.
local templates(cluster) =
  local deployments = std.get(cluster, 'machine_deployments', {});
  local pools = { 'control-plane': std.get(cluster, 'control_plane', {}) } + deployments;
  [
    template(cluster, pool, std.mergePatch(cluster.capm3, std.get(pools[pool], 'capm3', {})))
    for pool in std.objectFields(pools)
  ];

{
  [name + '.yaml']: templates(std.mergePatch(shared, std.parseYaml(clusters[name])).cluster)
  for name in std.objectFields(clusters)
}
