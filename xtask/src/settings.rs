//! `.dev.vars`: the secrets of a local run, made once.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use crate::{Outcome, node};

/// Makes `.dev.vars` with a random secret if it does not exist.
pub fn ensure() -> Outcome {
    let path = crate::setup::root().join(".dev.vars");
    if path.exists() {
        return Ok(());
    }
    println!("making .dev.vars with a random CRONWRIGHT_SECRET (local runs only, ignored by git)");
    let text = format!(
        "# Secrets of the local run, made by `cargo xtask dev`. Delete the file for new ones.\nCRONWRIGHT_SECRET={}\n",
        random_hex()?
    );
    write_private(&path, &text).map_err(|error| format!("cannot write .dev.vars: {error}"))
}

/// 32 random bytes as hex.
fn random_hex() -> Outcome<String> {
    let mut bytes = [0_u8; 32];
    match fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        // Windows has no such file; Node is there anyway.
        Err(_) => {
            let node = node::path()?;
            let script = "process.stdout.write(require('crypto').randomBytes(32).toString('hex'))";
            crate::process::output(&node.to_string_lossy(), &["-e", script])
                .filter(|hex| hex.len() == 64)
                .ok_or_else(|| {
                    "no source of randomness: write CRONWRIGHT_SECRET=<64 hex digits> to .dev.vars"
                        .into()
                })
        }
    }
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
