//! Writes `src/assets/openapi.json`: `cargo run -p cronwright-protocol --features openapi --example openapi`.

#[cfg(feature = "openapi")]
fn main() -> std::io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/assets/openapi.json");
    std::fs::write(path, cronwright_protocol::api::openapi::text())?;
    println!("wrote={path}");
    Ok(())
}

#[cfg(not(feature = "openapi"))]
fn main() {
    println!("this needs --features openapi");
}
