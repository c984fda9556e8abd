//! An output template of a repository's own, beside values that have long texts and lists.

use super::memory::Memory;
use super::pipeline;

const PROJECT: &[u8] = b"version: 1
clusters: [{name: a, values: [values.yaml]}]
outputs: [{target: helm-values, path: out}]
templates: own
";
const IMAGE: &str = "os_images: {img: {uri: 'https://r.example/img.raw', image-format: raw, k8s-version: '1.31.8+rke2r1', \
    sha256: '6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f'";

pub(super) fn run(data: &[u8]) -> bool {
    let values = format!(
        "{IMAGE}, long: '{}', quoted: '{}'}}}}\ncluster: {{k8s_version: v1.31.8+rke2r1, \
         capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, capm3: {{image_key: img}}}}\n",
        "a".repeat(100_000),
        "\\\"&".repeat(10_000),
    );
    let files = Memory::default()
        .with("metalmark.yaml", PROJECT)
        .with("values.yaml", values.as_bytes())
        .with("own/helm-values/cluster.yaml.j2", data)
        .with("own/helm-values/other.yaml.j2", data);
    pipeline::laws(files)
}
