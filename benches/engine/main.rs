//! Throughput of the engine: `cargo bench --bench engine`. What each group measures stands in
//! `benches/README.md`.

mod batteries;
mod deep;
mod estimates;
mod nodes;
mod plans;
mod predictions;

fn main() {
    divan::main();
}
