//! Commands and options that have another name now: each ends with a sentence that says which.

use std::ffi::OsString;

use bookahead_core::printable::one_line;

use super::submit::shell;

/// Every former command with its present name.
const FORMER: [(&str, &str); 5] = [
    ("strategies", "list strategies"),
    ("keys", "list keys"),
    ("metrics", "list metrics"),
    ("traces", "list traces"),
    ("schema", "list schema"),
];

/// Every former option: of which command, its name, and its present name.
const FORMER_OPTIONS: [([&str; 2], &str, &str); 2] = [
    (["trace", "convert"], "--target-load", "--load"),
    (["trace", "synthesize"], "--target-load", "--load"),
];

/// The command line with the former commands and options, which take any arguments and are shown
/// nowhere.
pub(super) fn with_former(command: clap::Command) -> clap::Command {
    let command = FORMER_OPTIONS.into_iter().fold(command, with_former_option);
    FORMER.into_iter().fold(command, |command, (former, now)| {
        let arguments = clap::Arg::new("arguments")
            .num_args(0..)
            .hide(true)
            .value_parser(clap::value_parser!(OsString))
            .allow_hyphen_values(true)
            .trailing_var_arg(true);
        command.subcommand(
            clap::Command::new(former)
                .about(format!("Now `bookahead {now}`"))
                .hide(true)
                .disable_help_flag(true)
                .arg(arguments),
        )
    })
}

fn with_former_option(
    command: clap::Command,
    ([outer, inner], former, _): ([&'static str; 2], &'static str, &'static str),
) -> clap::Command {
    let option = clap::Arg::new(former)
        .long(former.trim_start_matches('-'))
        .num_args(0..=1)
        .hide(true)
        .value_parser(clap::value_parser!(OsString))
        .allow_hyphen_values(true);
    command.mut_subcommand(outer, |command| {
        command.mut_subcommand(inner, |command| command.arg(option))
    })
}

/// The command that was typed, as one line that a shell takes.
fn typed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = std::iter::once("bookahead".to_owned())
        .chain(words)
        .collect();
    one_line(&shell(&words)).into_owned()
}

fn text(argument: &OsString) -> String {
    argument.to_string_lossy().into_owned()
}

/// Where one of the arguments was parsed as a former option: what it is called now.
fn renamed_option(matches: &clap::ArgMatches, arguments: &[OsString]) -> Option<String> {
    let (outer, of_outer) = matches.subcommand()?;
    let (inner, of_inner) = of_outer.subcommand()?;
    let mut known = FORMER_OPTIONS.into_iter();
    let (_, former, now) = known.find(|(command, former, _)| {
        *command == [outer, inner] && of_inner.try_contains_id(former).unwrap_or(false)
    })?;
    let with = |name: &str| {
        let words = arguments[1..].iter().map(|argument| {
            let argument = text(argument);
            match argument.strip_prefix(former) {
                Some(rest) if rest.is_empty() || rest.starts_with('=') => format!("{name}{rest}"),
                _ => argument,
            }
        });
        typed(words)
    };
    Some(format!("`{}` is now `{}`", with(former), with(now)))
}

/// Where the arguments (the first is the program's name) were parsed as a former command or with a
/// former option: what it is called now, with the same arguments.
pub(super) fn renamed(matches: &clap::ArgMatches, arguments: &[OsString]) -> Option<String> {
    if let Some(sentence) = renamed_option(matches, arguments) {
        return Some(sentence);
    }
    let name = matches.subcommand_name()?;
    let (former, now) = FORMER.into_iter().find(|(former, _)| *former == name)?;
    let at = (1..arguments.len())
        .find(|at| arguments[*at] == former && !awaits_value(&arguments[at - 1]))?;
    let with = |command: &str| {
        let before = arguments[1..at].iter().map(text);
        let behind = arguments[at + 1..].iter().map(text);
        typed(
            before
                .chain(command.split(' ').map(str::to_owned))
                .chain(behind),
        )
    };
    Some(format!("`{}` is now `{}`", with(former), with(now)))
}

/// Options in front of a command that take no value.
const FLAGS: [&str; 2] = ["--wide", "--tsv"];

/// Whether the next argument is the value of this one: all other options in front of a command take
/// one.
fn awaits_value(argument: &OsString) -> bool {
    let argument = argument.to_string_lossy();
    argument.starts_with("--") && !argument.contains('=') && !FLAGS.contains(&&*argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn said(arguments: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let matches = with_former(cli::command()).try_get_matches_from(&arguments);
        renamed(&matches.unwrap(), &arguments)
    }

    #[test]
    fn every_former_command_names_its_successor_with_the_arguments() {
        for (former, now) in FORMER {
            for (before, behind) in [
                ("", ""),
                ("", " --help"),
                ("", " -V"),
                ("", " workload --json --out=x.json -- --y"),
                ("", " --color never wait"),
                ("--log a.jsonl --color=never ", " wait --unknown"),
                ("--wide --color never ", " wait"),
                ("--tsv ", ""),
                // The value of an option in front of the command is no command.
                (&format!("--log {former} "), &format!(" {former}")),
            ] {
                let line = format!("target/bookahead {before}{former}{behind}");
                let arguments: Vec<&str> = line.split(' ').collect();
                let sentence = format!(
                    "`bookahead {before}{former}{behind}` is now `bookahead {before}{now}{behind}`"
                );
                assert_eq!(said(&arguments), Some(sentence), "{line}");
            }
        }
    }

    #[test]
    fn arguments_are_repeated_on_one_line_as_the_shell_takes_them() {
        let sentence = "`bookahead keys 'a b c' ''` is now `bookahead list keys 'a b c' ''`";
        let typed = ["bookahead", "keys", "a b\nc", ""];
        assert_eq!(said(&typed).as_deref(), Some(sentence));
        assert_eq!(said(&["bookahead", "list", "keys"]), None);
    }

    #[test]
    fn a_former_option_names_its_successor_with_the_other_arguments() {
        let of = |option: &str| format!("bookahead trace convert a.swf b.swf {option} --last 3");
        for (former, now) in [
            ("--target-load 1.5", "--load 1.5"),
            ("--target-load=-1", "--load=-1"),
        ] {
            let (former, now) = (of(former), of(now));
            let words: Vec<&str> = former.split(' ').collect();
            let sentence = format!("`{former}` is now `{now}`");
            assert_eq!(said(&words), Some(sentence));
            let words: Vec<&str> = now.split(' ').collect();
            assert_eq!(said(&words), None);
        }
        let line = "bookahead trace synthesize x.swf --model arminius --jobs 9 --target-load 2";
        let words: Vec<&str> = line.split(' ').collect();
        assert!(said(&words).is_some_and(|said| said.ends_with("--jobs 9 --load 2`")));
        let mut command = with_former(cli::command());
        for (path, former, _) in FORMER_OPTIONS {
            let inner = path.iter().fold(&mut command, |command, name| {
                command.find_subcommand_mut(name).unwrap()
            });
            assert!(!inner.render_long_help().to_string().contains(former));
        }
    }

    #[test]
    fn every_successor_is_a_command_and_no_help_shows_its_former_name() {
        let mut shown = cli::command();
        for (former, now) in FORMER {
            let found = now.split(' ').try_fold(&shown, |command, name| {
                command
                    .find_subcommand(name)
                    .filter(|one| !one.is_hide_set())
            });
            assert!(found.is_some(), "{now}");
            assert!(shown.find_subcommand(former).is_none(), "{former}");
        }
        let shown = shown.render_long_help().to_string();
        let parsed = with_former(cli::command()).render_long_help().to_string();
        assert_eq!(shown, parsed);
    }
}
