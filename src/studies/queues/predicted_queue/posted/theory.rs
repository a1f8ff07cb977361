//! Classes of a single server that stops nobody: expected waits (Cobham 1954), and prices that are
//! the waiting cost that a job adds to all (Mendelson and Whang 1990; the idea in Singh 2008,
//! §2.1.3).
//!
//! Jobs of class k offer the load ρ_k and lose C_k for each hour that all who come within an hour
//! wait. With σ_k = ρ_1 + … + ρ_k and the mean rest W0 of the job in service, class k waits
//! W_k = W0 / ((1 − σ_{k−1})(1 − σ_k)). A job of s hours adds s to ρ_k and s²/2 to W0, so it costs
//! the others Σ_j C_j ∂W_j/∂ρ_k · s + Σ_j C_j ∂W_j/∂W0 · s²/2.

/// What the jobs of a class bring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassLoad {
    /// ρ: hours of service a hour.
    pub load: f64,
    /// C: the sum over the jobs that come in an hour of what an hour of waiting costs them, in
    /// service units an hour.
    pub cost: f64,
}

/// What is posted for a class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PostedClass {
    /// The expected wait in hours.
    pub wait_hours: f64,
    /// The price of an hour of service, in service units.
    pub hour_price: f64,
}

/// What is posted, the class that is served first in front.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// The classes.
    pub classes: Vec<PostedClass>,
    /// What half the square of a job's hours costs in every class, in service units.
    pub square_price: f64,
}

impl Board {
    /// What a job of this many hours of service pays in a class, in service units.
    #[must_use]
    pub fn price(&self, class: usize, hours: f64) -> f64 {
        self.classes[class].hour_price * hours + self.square_price * hours * hours / 2.0
    }
}

/// The waits and prices of classes, the one that is served first in front; `rest_hours` is W0, half
/// of the sum of squared hours of the jobs that come in an hour. `None` where the load leaves no
/// time.
#[must_use]
pub fn posted(rest_hours: f64, classes: &[ClassLoad]) -> Option<Board> {
    // Of each class: 1/(1 − σ_{k−1}), 1/(1 − σ_k), and the wait.
    let mut waits = Vec::with_capacity(classes.len());
    let (mut before, mut square_price) = (1.0, 0.0);
    for class in classes {
        let behind = before - class.load;
        if behind <= 0.0 {
            return None;
        }
        let (first, second) = (1.0 / before, 1.0 / behind);
        waits.push((first, second, rest_hours * first * second));
        square_price += class.cost * first * second;
        before = behind;
    }
    let mut board: Vec<PostedClass> = Vec::with_capacity(classes.len());
    // What an hour of service adds to the waits of the classes behind.
    let mut of_those_behind = 0.0;
    for (class, &(first, second, wait_hours)) in classes.iter().zip(&waits).rev() {
        board.push(PostedClass {
            wait_hours,
            hour_price: class.cost * wait_hours * second + of_those_behind,
        });
        of_those_behind += class.cost * wait_hours * (first + second);
    }
    board.reverse();
    Some(Board {
        classes: board,
        square_price,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponential service of mean 1 h, 0.2 and 0.4 jobs an hour to whom an hour costs 3 and 1 SU.
    fn of_the_vector() -> Board {
        // W0 = 0.6 · E[S²] / 2 = 0.6, as E[S²] = 2.
        let class = |load, cost| ClassLoad { load, cost };
        posted(0.6, &[class(0.2, 0.6), class(0.4, 0.4)]).unwrap()
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-12
    }

    /// W = 0.6/0.8 and 0.6/(0.8 · 0.4). A job of mean length in the mean: an hour of service and
    /// half of E[S²] = 1. Σ C_j ∂W_j/∂W0 = 0.6/0.8 + 0.4/0.32 = 2. In the second class an hour adds
    /// 0.4 · 1.875/0.4 = 1.875, so 3.875; in the first 0.6 · 0.75/0.8 = 0.5625 to those of the
    /// first and 0.4 · 1.875 · (1.25 + 2.5) = 2.8125 to those of the second, so 5.375.
    #[test]
    fn waits_and_prices_are_those_of_the_vector() {
        let board = of_the_vector();
        let [first, second] = board.classes[..] else {
            panic!("{board:?}");
        };
        assert!(near(first.wait_hours, 0.75), "{first:?}");
        assert!(near(second.wait_hours, 1.875), "{second:?}");
        let mean_price = |class: PostedClass| class.hour_price + board.square_price;
        assert!(near(mean_price(first), 5.375), "{board:?}");
        assert!(near(mean_price(second), 3.875), "{board:?}");
        // Who loses 4/3 an hour pays 1.5 more and waits 1.125 h less.
        let total = |class: PostedClass| mean_price(class) + 4.0 / 3.0 * class.wait_hours;
        assert!(near(total(first), total(second)));
        // A job of two hours pays twice the hour, and four times the square.
        assert!(near(board.price(1, 2.0), 2.0 * 1.875 + 2.0 * 2.0));
    }

    #[test]
    fn a_price_is_what_a_little_more_load_adds_to_the_waiting_costs_of_all() {
        let class = |load, cost| ClassLoad { load, cost };
        let classes = [class(0.1, 2.0), class(0.3, 0.5), class(0.25, 0.1)];
        let waiting_cost = |rest: f64, loads: &[ClassLoad]| -> f64 {
            let board = posted(rest, loads).unwrap();
            let waits = board.classes.iter().map(|posted| posted.wait_hours);
            loads
                .iter()
                .zip(waits)
                .map(|(load, wait)| load.cost * wait)
                .sum()
        };
        let (rest, step) = (0.7, 1e-6);
        let board = posted(rest, &classes).unwrap();
        for (place, posted) in board.classes.iter().enumerate() {
            let [less, more] = [-step, step].map(|change| {
                let mut changed = classes;
                changed[place].load += change;
                waiting_cost(rest, &changed)
            });
            let slope = (more - less) / (2.0 * step);
            assert!((posted.hour_price - slope).abs() < 1e-6, "{place}: {slope}");
        }
        let slope = waiting_cost(rest + 1.0, &classes) - waiting_cost(rest, &classes);
        assert!((board.square_price - slope).abs() < 1e-9, "{slope}");
    }

    #[test]
    fn a_load_of_the_whole_server_has_no_wait() {
        let class = |load| ClassLoad { load, cost: 1.0 };
        assert!(posted(1.0, &[class(0.5), class(0.49)]).is_some());
        assert_eq!(posted(1.0, &[class(0.5), class(0.5)]), None);
    }
}
