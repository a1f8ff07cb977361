//! What stands at the place of a file, and who left what.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_by_a_whole_one_or_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let mut half = OutputFile::create(&path).unwrap();
    half.write_all(b"half").unwrap();
    drop(half);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    write_file(&path, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn missing_folders_of_a_file_are_made_and_a_folder_in_its_place_is_named() {
    let folder = tempfile::tempdir().unwrap();
    write_file(&folder.path().join("a/b/out.csv"), "new").unwrap();
    assert_eq!(names(&folder.path().join("a/b")), ["out.csv"]);
    let refused = write_file(&folder.path().join("a/b"), "new").unwrap_err();
    assert!(refused.to_string().contains("it is a folder"), "{refused}");
    assert!(write_file(Path::new("/"), "new").is_err());
    assert!(write_file(Path::new(".."), "new").is_err());
}

#[cfg(unix)]
#[test]
fn no_file_is_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, link) = (folder.path().join("mine"), folder.path().join("out.csv"));
    fs::write(&mine, "mine").unwrap();
    std::os::unix::fs::symlink("mine", &link).unwrap();
    let refused = write_file(&link, "new").unwrap_err().to_string();
    assert!(refused.contains("a link to `mine`"), "{refused}");
    // Nor where the link comes while the file is written.
    fs::remove_file(&link).unwrap();
    let begun = OutputFile::create(&link).unwrap();
    std::os::unix::fs::symlink("mine", &link).unwrap();
    begun.finish().unwrap_err();
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(names(folder.path()), ["mine", "out.csv"]);
}

#[cfg(unix)]
#[test]
fn a_socket_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let refused = write_file(&path, "new").unwrap_err().to_string();
    assert!(refused.contains("it is a socket"), "{refused}");
    let opened = OutputFolder::create(folder.path()).unwrap();
    opened.read("out.csv", 100).unwrap_err();
    opened.sha256("out.csv", 100).unwrap_err();
}

#[cfg(unix)]
#[test]
fn streams_below_dev_are_written_directly() {
    write_file(Path::new("/dev/null"), "new").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("redirected");
    let file = fs::File::create(&path).unwrap();
    let stream = PathBuf::from(format!(
        "/dev/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&file)
    ));
    fs::write(&path, "before ").unwrap();
    write_file(&stream, "after").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "before after");
}

#[cfg(unix)]
#[test]
fn a_private_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.csv");
    OutputFile::create_private(&path).unwrap().finish().unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_next_file_takes_away_what_killed_writers_left_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let left = [".bookahead-a1b2c3.part", ".bookahead-0123456789ab.part"];
    let kept = [".bookahead-my-own-notes.part", ".part", "mine.part"];
    for name in left.iter().chain(&kept) {
        fs::write(folder.path().join(name), "half").unwrap();
    }
    // A folder of such a name is nobody's leftover.
    fs::create_dir(folder.path().join(".bookahead-ffffff.part")).unwrap();
    let under_way = OutputFile::create(&folder.path().join("long.csv")).unwrap();
    write_file(&folder.path().join("out.csv"), "new").unwrap();
    for name in left {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    for name in kept {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    assert!(folder.path().join(".bookahead-ffffff.part").is_dir());
    under_way.finish().unwrap();
    assert!(folder.path().join("long.csv").exists());
}

#[cfg(unix)]
#[test]
fn a_linked_leftover_is_left_and_so_is_what_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let mine = other.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    let link = folder.path().join(".writing-a1b2c3");
    std::os::unix::fs::symlink(&mine, &link).unwrap();
    OutputFolder::create(folder.path())
        .unwrap()
        .remove_leftovers();
    assert!(link.is_symlink() && mine.exists());
}

#[cfg(unix)]
#[test]
fn a_folder_is_not_reached_through_a_link() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("mine")).unwrap();
    std::os::unix::fs::symlink("mine", home.path().join("link")).unwrap();
    let refused = OutputFolder::create(&home.path().join("link")).unwrap_err();
    assert!(
        refused.to_string().contains("a link to `mine`"),
        "{refused}"
    );
    let folder = OutputFolder::create(home.path()).unwrap();
    folder.existing("link").unwrap_err();
    folder.folder("link").unwrap_err();
    // What stands above an absolute path is the user's own.
    OutputFolder::create(&home.path().join("link/below")).unwrap();
    assert!(home.path().join("mine/below").is_dir());
}

#[test]
fn one_process_at_a_time_writes_into_a_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = OutputFolder::create(home.path()).unwrap();
    let held = folder.lock().unwrap();
    let other = folder.dir.open(".").unwrap().into_std();
    assert!(other.try_lock().is_err());
    drop(held);
    other.try_lock().unwrap();
}
