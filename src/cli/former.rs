//! Commands that have another name now: each ends with a sentence that says which.

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

/// The command line with the former commands, which take any arguments and are shown nowhere.
pub(super) fn with_former(command: clap::Command) -> clap::Command {
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

/// Where the arguments (the first is the program's name) were parsed as a former command: what it
/// is called now, with the same arguments.
pub(super) fn renamed(matches: &clap::ArgMatches, arguments: &[OsString]) -> Option<String> {
    let name = matches.subcommand_name()?;
    let (former, now) = FORMER.into_iter().find(|(former, _)| *former == name)?;
    let at = (1..arguments.len())
        .find(|at| arguments[*at] == former && !awaits_value(&arguments[at - 1]))?;
    let text = |argument: &OsString| argument.to_string_lossy().into_owned();
    let typed = |command: &str| {
        let before = arguments[1..at].iter().map(text);
        let behind = arguments[at + 1..].iter().map(text);
        let words: Vec<String> = std::iter::once("bookahead".to_owned())
            .chain(before)
            .chain(command.split(' ').map(str::to_owned))
            .chain(behind)
            .collect();
        one_line(&shell(&words)).into_owned()
    };
    Some(format!("`{}` is now `{}`", typed(former), typed(now)))
}

/// Whether the next argument is the value of this one: all options in front of a command take one.
fn awaits_value(argument: &OsString) -> bool {
    let argument = argument.to_string_lossy();
    argument.starts_with("--") && !argument.contains('=')
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
