//! The binary: hands its arguments to [`bookahead::cli`].

use std::process::ExitCode;

use bookahead::cli::{self, Program};

fn main() -> ExitCode {
    cli::main(Program::default(), std::env::args_os())
}
