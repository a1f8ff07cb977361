//! The fair tree: the tree of Slurm's own test with the factors that it expects, and ties and
//! orders worked out by hand.

use super::*;
use crate::machine_queue::fair_tree::FairTree;
use crate::machine_queue::priority::Priorities;

/// A node: its name, the account above, its shares, and its use.
type Row = (&'static str, &'static str, f64, f64);

/// Factors of users by name; accounts above others come first.
fn factors(accounts: &[Row], users: &[Row], in_all: f64) -> Vec<(&'static str, f64)> {
    let place = |name: &str| accounts.iter().position(|account| account.0 == name);
    let node = |row: &Row| (place(row.1), row.2);
    let nodes: Vec<_> = accounts.iter().map(node).collect();
    let tree = FairTree::new(&nodes, users.iter().map(node));
    let used: Vec<f64> = accounts.iter().chain(users).map(|row| row.3).collect();
    let mut factors = vec![f64::NAN; used.len()];
    tree.factors(&used, in_all, &mut factors);
    let of_users = users.iter().zip(&factors[accounts.len()..]);
    of_users.map(|(user, factor)| (user.0, *factor)).collect()
}

/// The tree of test24.4 in Slurm's test suite and the column FairShare that it expects of `sshare`.
/// Accounts and users with `Fairshare=parent` are put where that puts them: account aDA is left out
/// and its users are below aD, and of these who have it themselves (uD1, uDA1) are the first of the
/// account, as those who used nothing are. uD2 has 40 shares and used 20, uD3 has 50 and used 25:
/// that is a tie, which Slurm's divisions miss by the last digit (it expects 0.238095 for uD2).
#[test]
fn the_tree_of_slurms_own_test_has_the_factors_that_it_expects() {
    let accounts = [
        ("aA", "", 40.0, 45.0),
        ("aAA", "aA", 30.0, 20.0),
        ("aAB", "aA", 10.0, 25.0),
        ("aB", "", 60.0, 25.0),
        ("aBA", "aB", 25.0, 25.0),
        ("aBB", "aB", 35.0, 0.0),
        ("aC", "", 0.0, 30.0),
        ("aD", "", 50.0, 110.0),
        ("aE", "", 10.0, 0.0),
        ("aF", "", 20.0, 0.0),
        ("aG", "", 8.0, 20.0),
        ("aGA", "aG", 10.0, 10.0),
    ];
    let users = [
        (("uAA1", "aAA", 1.0, 20.0), 0.619_048),
        (("uAB1", "aAB", 1.0, 25.0), 0.523_810),
        (("uAB2", "aAB", 1.0, 0.0), 0.571_429),
        (("uBA1", "aBA", 1.0, 25.0), 0.714_286),
        (("uBB1", "aBB", 1.0, 0.0), 0.761_905),
        (("uC1", "aC", 0.0, 30.0), 0.047_619),
        (("uDA1", "aD", 1.0, 0.0), 0.476_190),
        (("uDA2", "aD", 30.0, 10.0), 0.380_952),
        (("uDA3", "aD", 50.0, 25.0), 0.333_333),
        (("uD1", "aD", 1.0, 0.0), 0.476_190),
        (("uD2", "aD", 40.0, 20.0), 0.333_333),
        (("uD3", "aD", 50.0, 25.0), 0.333_333),
        (("uE1", "aE", 10.0, 0.0), 1.0),
        (("uE2", "aE", 10.0, 0.0), 1.0),
        (("u1", "", 10.0, 0.0), 1.0),
        (("uF1", "aF", 10.0, 0.0), 1.0),
        (("uF2", "aF", 20.0, 0.0), 1.0),
        (("uG1", "aG", 10.0, 10.0), 0.190_476),
        (("uGA1", "aGA", 20.0, 4.0), 0.190_476),
        (("uGA2", "aGA", 20.0, 6.0), 0.095_238),
        (("u2", "", 10.0, 10.0), 0.666_667),
    ];
    let found = factors(&accounts, &users.map(|(row, _)| row), 240.0);
    for ((name, factor), (_, expected)) in found.into_iter().zip(users) {
        assert!(
            (factor - expected).abs() < 1e-6,
            "{name}: {factor}, not {expected}"
        );
    }
}

#[test]
fn all_below_an_account_come_before_all_below_the_next_however_much_they_used() {
    // Account a has 3 of 4 shares and half of the use; its greedy user still comes before the
    // modest one of b.
    let accounts = [("a", "", 3.0, 100.0), ("b", "", 1.0, 100.0)];
    let users = [
        ("greedy", "a", 1.0, 99.0),
        ("other", "a", 1.0, 1.0),
        ("modest", "b", 1.0, 1.0),
        ("heavy", "b", 1.0, 99.0),
    ];
    let expected = [
        ("greedy", 0.75),
        ("other", 1.0),
        ("modest", 0.5),
        ("heavy", 0.25),
    ];
    assert_eq!(factors(&accounts, &users, 200.0), expected);
}

#[test]
fn below_accounts_that_tie_users_are_ranked_as_if_they_were_siblings() {
    // Both accounts used what they may.
    let accounts = [("a", "", 1.0, 60.0), ("b", "", 1.0, 60.0)];
    let users = [
        ("a1", "a", 1.0, 60.0),
        ("a2", "a", 3.0, 0.0),
        ("b1", "b", 1.0, 45.0),
        ("b2", "b", 1.0, 15.0),
    ];
    // Levels 1/4, infinite, 2/3 and 2.
    let expected = [("a1", 0.25), ("a2", 1.0), ("b1", 0.5), ("b2", 0.75)];
    assert_eq!(factors(&accounts, &users, 120.0), expected);
}

#[test]
fn accounts_without_users_change_the_place_of_nobody() {
    let accounts = [
        ("empty", "", 5.0, 0.0),
        ("a", "", 1.0, 10.0),
        ("below", "a", 1.0, 0.0),
    ];
    let users = [("u", "a", 1.0, 10.0), ("v", "", 1.0, 20.0)];
    assert_eq!(factors(&accounts, &users, 30.0), [("u", 1.0), ("v", 0.5)]);
}

#[test]
fn jobs_are_charged_to_their_user_and_to_every_account_above() {
    let mut machine = machine(vec![class(1, 1)]);
    machine.priority.fair_share = 1.0;
    machine.priority.half_life = Some(Seconds(100));
    machine.priority.algorithm = FairShareAlgorithm::FairTree;
    let account = |parent: Option<usize>| Account {
        parent: parent.map(AccountIndex),
        ..machine.accounts[0].clone()
    };
    machine.accounts = vec![account(None), account(Some(0)), account(None)];
    let of = |account: usize, user: i64| MachineQueueJob {
        account: AccountIndex(account),
        user,
        ..job(0, 1, 1)
    };
    // User 1 has jobs of two accounts: two users of the tree.
    let jobs = [of(1, 1), of(0, 2), of(2, 1), of(2, 3)];
    let mut priorities = Priorities::new(&machine, &jobs);
    let holders = jobs.map(|job| priorities.holder_of(&job));
    priorities.charge(holders[0], Seconds(0), 3.0);
    priorities.charge(holders[0], Seconds(10), -3.0);
    priorities.charge(holders[3], Seconds(5), 1.0);
    priorities.refresh(Seconds(50));
    let factor = |at: usize| priorities.of(0.0, Seconds(0), holders[at]);
    // At 50, account 2 has used 45 core-seconds and account 0, by the user of account 1 below it,
    // 30 and longer ago.
    assert_eq!([0, 1, 2, 3].map(factor), [0.75, 1.0, 0.5, 0.25]);
    // At 10 it was 5 and 30.
    priorities.refresh(Seconds(10));
    let factor = |at: usize| priorities.of(0.0, Seconds(0), holders[at]);
    assert_eq!([0, 1, 2, 3].map(factor), [0.25, 0.5, 1.0, 0.75]);
}
