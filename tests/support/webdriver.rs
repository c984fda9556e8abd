//! A real browser, driven over the WebDriver protocol (<https://www.w3.org/TR/webdriver2/>). The few requests that tests need
//! are made with the HTTP client that the program has already: a crate for this would bring a second one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::programs;

/// The browser loads only what it is shown: no updates, no probes of the network.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// How long a page may take to get where a test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often chromedriver is started until it has a port.
const STARTS: usize = 10;

/// One browser at a time: several at once would share the time that each test has.
static ONE: Mutex<()> = Mutex::new(());

/// One window of one browser, which ends with this value.
pub(crate) struct Browser {
    _turn: MutexGuard<'static, ()>,
    driver: Child,
    runtime: Runtime,
    client: Client,
    session: String,
    _profile: tempfile::TempDir,
}

/// Starts chromedriver, and reads the port that it chose. It asks the system for a free IPv6 port and exits where that number is
/// taken on IPv4, so it is started again.
fn start(program: &Path) -> (Child, String) {
    let mut said = Vec::new();
    for _ in 0..STARTS {
        let mut driver = Command::new(program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        for line in lines.map_while(Result::ok) {
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                return (driver, port.trim_end_matches('.').to_owned());
            }
            said.push(line);
        }
        let _ = driver.wait();
    }
    panic!("chromedriver does not say its port: {}", said.join("\n"));
}

impl Browser {
    /// A window of that width in CSS pixels; none where there is no Chromium, which is a skip.
    pub(crate) fn open(width: u32) -> Option<Self> {
        let (browser, driver) = (programs::find("chromium"), programs::find("chromedriver"));
        let (browser, driver) = (browser?, driver?);
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let profile = tempfile::tempdir().expect("a scratch folder");
        let (driver, port) = start(&driver);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let client = Client::builder().no_proxy().build().expect("a client");
        let mut window = Self {
            _turn: turn,
            driver,
            runtime,
            client,
            session: format!("http://127.0.0.1:{port}/session"),
            _profile: profile,
        };
        let folder = format!("--user-data-dir={}", window._profile.path().display());
        // A window cannot be as narrow as a phone, so the size of the page is set instead.
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain([folder.as_str()]).collect();
        let options = json!({
            "binary": browser,
            "args": arguments,
            "mobileEmulation": {"deviceMetrics": {"width": width, "height": 900, "pixelRatio": 1, "touch": false, "mobile": false}},
        });
        let logs = json!({"browser": "ALL", "performance": "ALL"});
        let wanted = json!({"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs});
        let made = window.send(
            Method::POST,
            "",
            Some(json!({"capabilities": {"alwaysMatch": wanted}})),
        );
        let id = made["sessionId"].as_str().expect("a session").to_owned();
        window.session = format!("{}/{id}", window.session);
        Some(window)
    }

    fn send(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let request = self
            .client
            .request(method, format!("{}{path}", self.session));
        let request = match body {
            Some(body) => request
                .header("Content-Type", "application/json")
                .body(body.to_string()),
            None => request,
        };
        let text = self.runtime.block_on(async {
            let response = request.send().await.expect("chromedriver answers");
            response.text().await.expect("text")
        });
        let mut answer: Value = serde_json::from_str(&text).expect("JSON");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }

    /// Goes to an address.
    pub(crate) fn visit(&self, address: &str) {
        self.send(Method::POST, "/url", Some(json!({"url": address})));
    }

    /// What a function's body returns in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        let body = json!({"script": script, "args": []});
        self.send(Method::POST, "/execute/sync", Some(body))
    }

    /// What a promise in the page resolves to.
    pub(crate) fn wait_for(&self, promise: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {promise}.then(done)");
        let body = json!({"script": script, "args": []});
        self.send(Method::POST, "/execute/async", Some(body))
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn until(&self, expression: &str) {
        let since = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != json!(true) {
            let shown = || self.run("return document.body.innerText.slice(0, 600)");
            assert!(since.elapsed() < PATIENCE, "{expression}: {}", shown());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Clicks on the element of a selector, as a person does.
    pub(crate) fn click(&self, selector: &str) {
        let path = format!("/element/{}/click", self.element(selector));
        self.send(Method::POST, &path, Some(json!({})));
    }

    /// Types into the element of a selector.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let path = format!("/element/{}/value", self.element(selector));
        self.send(Method::POST, &path, Some(json!({"text": text})));
    }

    fn element(&self, selector: &str) -> String {
        let query = json!({"using": "css selector", "value": selector});
        let found = self.send(Method::POST, "/element", Some(query));
        let ids = found.as_object().expect("an element").values();
        let mut ids = ids.filter_map(Value::as_str);
        ids.next().expect("an id").to_owned()
    }

    /// Uses the colors of a dark system, or of a light one.
    pub(crate) fn set_dark(&self, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let body = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.send(Method::POST, "/goog/cdp/execute", Some(body));
    }

    /// The lines of the console since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let lines = self.send(Method::POST, "/se/log", Some(json!({"type": "browser"})));
        let lines = lines.as_array().expect("a list").iter();
        lines.map(|line| line["message"].to_string()).collect()
    }

    /// The addresses that were requested since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        let events = self.send(
            Method::POST,
            "/se/log",
            Some(json!({"type": "performance"})),
        );
        let events = events.as_array().expect("a list").iter();
        let events = events.filter_map(|event| {
            let event: Value = serde_json::from_str(event["message"].as_str()?).ok()?;
            let event = &event["message"];
            let is_request = event["method"] == "Network.requestWillBeSent";
            let address = event["params"]["request"]["url"].as_str()?;
            is_request.then(|| address.to_owned())
        });
        events.collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let request = self.client.delete(&self.session);
        let _ = self.runtime.block_on(request.send());
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
