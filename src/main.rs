//! The binary: hands its arguments to [`bookahead::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    bookahead::cli::main(std::env::args_os())
}
