//! `cronwright-bundle [--release] WASM OUT_DIR`: what the wasm-bindgen command line does, as a library call.
//!
//! The command line tool would be a second download that has to match our wasm-bindgen exactly; here
//! Cargo.lock pins both. OUT_DIR is replaced as a whole, so a reader never sees half of it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

fn main() {
    let mut args: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let before = args.len();
    args.retain(|arg| arg.as_os_str() != "--release");
    let release = args.len() < before;
    let result = match args.as_slice() {
        [wasm, out] => bundle(wasm, out, release),
        _ => Err("usage: cronwright-bundle [--release] WASM OUT_DIR".into()),
    };
    if let Err(error) = result {
        eprintln!("bundle: {error}");
        process::exit(1);
    }
}

fn bundle(wasm: &Path, out: &Path, release: bool) -> Result<(), Box<dyn Error>> {
    let staging = out.with_extension("tmp");
    if staging.exists() {
        fs::remove_dir_all(&staging)?;
    }
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen
        .input_path(wasm)
        .module(true)?
        .out_name("index")
        .typescript(false)
        // Names are a sixth of what a release would upload; the development build keeps them.
        .remove_name_section(release)
        // The shim starts a fresh instance after a trap (out of memory, stack overflow).
        .reset_state_function(true)
        .force_enable_abort_handler(true)
        .generate(&staging)
        .map_err(|error| format!("wasm-bindgen failed: {error:#}"))?;

    // Source phase imports are newer than wrangler's bundler; a plain import of a .wasm file means
    // the same to it.
    let script = staging.join("index.js");
    let text = fs::read_to_string(&script)?;
    if !text.contains("import source ") {
        return Err(format!(
            "{} has no `import source`: wasm-bindgen changed its output, adapt tools/bundle",
            script.display()
        )
        .into());
    }
    fs::write(&script, text.replace("import source ", "import "))?;

    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::rename(&staging, out)?;
    Ok(())
}
