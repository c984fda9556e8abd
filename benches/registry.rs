//! A thousand references resolved from a registry: our client, a bare HTTP loop at the same concurrency, and `skopeo`, in one run.
//!
//! Then what every gate does without a network: a lock of as many signed images, read and verified.
//!
//! `cargo bench --bench registry`. It asks Debian's `docker-registry` where that is installed, else a registry in this process.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints a table, or dies"
)]

#[path = "registry/locked.rs"]
mod locked;
#[path = "registry/served.rs"]
mod served;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oci_artifacts::registries::{Host, RegistrySettings};
use oci_artifacts::registry::{Environment, Limits, Registries, RegistryOptions};
use oci_artifacts::{Reference, RegistryName, Store};

const REFERENCES: usize = 1000;
const CONCURRENCY: usize = 16;
const ROUNDS: usize = 5;

fn main() {
    let served = served::start(REFERENCES);
    println!(
        "{REFERENCES} references, {CONCURRENCY} at once, {}, median of {ROUNDS}",
        served.what
    );
    println!("| client | wall s |\n|---|--:|");
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(client(&served));
        bare.push(bare_loop(&served));
    }
    let (ours, bare) = (median(ours), median(bare));
    println!("| metalmark | {:.3} |", ours.as_secs_f64());
    println!("| bare reqwest loop | {:.3} |", bare.as_secs_f64());
    if let Some(skopeo) = skopeo(&served, 50) {
        let all = skopeo.as_secs_f64() * REFERENCES as f64 / 50.0;
        println!("| skopeo inspect --raw, one by one (50 measured) | {all:.3} |");
    }
    println!(
        "metalmark takes {:.2} times the bare loop",
        ours.as_secs_f64() / bare.as_secs_f64()
    );
    let locked = locked::Locked::new(REFERENCES);
    let times = (0..ROUNDS).map(|_| locked.verified()).collect();
    println!(
        "a lock of {REFERENCES} signed images, {} kB of evidence, read and verified in {:.3} s",
        locked.kilobytes(),
        median(times).as_secs_f64()
    );
}

fn client(served: &served::Served) -> Duration {
    let host = Host {
        plain_http: true,
        ..Host::default()
    };
    let client = Registries::new(RegistryOptions {
        settings: RegistrySettings {
            hosts: [(RegistryName::parse(&served.host).unwrap(), host)].into(),
            concurrency: CONCURRENCY,
            ..RegistrySettings::default()
        },
        limits: Limits::default(),
        environment: Environment::default(),
        progress: None,
    });
    let references: Vec<Reference> = (0..REFERENCES)
        .map(|number| Reference::parse(&format!("{}/g/r{number}:1", served.host)).unwrap())
        .collect();
    let started = Instant::now();
    let answers = client.manifests(&references);
    let taken = started.elapsed();
    assert!(
        answers.iter().all(Result::is_ok),
        "{:?}",
        answers.iter().find(|answer| answer.is_err())
    );
    taken
}

fn bare_loop(served: &served::Served) -> Duration {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let started = Instant::now();
    runtime.block_on(async {
        let client = reqwest::Client::builder()
            .tls_certs_only([])
            .build()
            .unwrap();
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..CONCURRENCY {
            let (client, next, host) = (client.clone(), Arc::clone(&next), served.host.clone());
            tasks.spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= REFERENCES {
                        return;
                    }
                    let url = format!("http://{host}/v2/g/r{number}/manifests/1");
                    let request = client
                        .get(url)
                        .header("accept", "application/vnd.oci.image.manifest.v1+json");
                    let bytes = request
                        .send()
                        .await
                        .unwrap()
                        .error_for_status()
                        .unwrap()
                        .bytes()
                        .await
                        .unwrap();
                    assert!(!bytes.is_empty());
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    });
    started.elapsed()
}

fn skopeo(served: &served::Served, count: usize) -> Option<Duration> {
    let started = Instant::now();
    for number in 0..count {
        let status = Command::new("skopeo")
            .args(["inspect", "--raw", "--tls-verify=false"])
            .arg(format!("docker://{}/g/r{number}:1", served.host))
            .stdout(Stdio::null())
            .status()
            .ok()?;
        assert!(status.success());
    }
    Some(started.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
