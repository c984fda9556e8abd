//! libFuzzer's program: `TARGET` names the kind of input. One for all, for each holds the whole of metalmark.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<String> =
    LazyLock::new(|| std::env::var("TARGET").expect("TARGET names a kind of input"));

libfuzzer_sys::fuzz_target!(|data: &[u8]| metalmark_fuzz::run(&TARGET, data));
