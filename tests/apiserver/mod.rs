//! What is rendered, stamped and rotated, on a real API server with the real CRDs. `METALMARK_KUBE_APISERVER` and
//! `METALMARK_ETCD` name the programs, which tests/interop/install.sh installs; the CRDs are in the folder that `CRDS` names.

mod argocd;
mod argocd_controller;
mod definitions;
mod demo;
mod edits;
mod flux;
mod flux_controllers;
mod golden;
mod kubectl;
mod objects;
mod rotation;
mod server;
mod shapes;
mod webhooks;
