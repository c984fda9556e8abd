#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| metalmark_fuzz::run("schemas", data));
