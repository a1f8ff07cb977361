//! Machine files and configurations of Slurm, read as the program reads them.

mod conf;
mod files;
mod placement;
mod windows;
