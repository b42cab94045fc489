//! Which edges lead back, so that the others can be drawn from layer to layer.

/// The edges of a drawing, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layers {
    /// For each edge, whether it leads back. Without these there is no cycle.
    pub(super) back: Vec<bool>,
    /// How many layers all other edges pass by: the lines that have to be led around nodes.
    pub(super) passed: usize,
}

impl Layers {
    /// Walks into the depth, from the first vertex on, always along the first edge that is left. An edge to a vertex
    /// from which the walk came leads back. Takes linear time and no recursion.
    pub(super) fn new(vertices: usize, edges: &[(usize, usize)]) -> Self {
        let mut leaving = vec![Vec::new(); vertices];
        for (index, (from, _)) in edges.iter().enumerate() {
            leaving[*from].push(index);
        }
        let mut back = vec![false; edges.len()];
        let mut state = vec![Walk::Ahead; vertices];
        // Vertices in the order in which the walk leaves them: each after all that it leads to.
        let mut left = Vec::with_capacity(vertices);
        for root in 0..vertices {
            if state[root] != Walk::Ahead {
                continue;
            }
            state[root] = Walk::Inside;
            let mut way = vec![(root, 0)];
            while let Some((vertex, next)) = way.last_mut() {
                let Some(&edge) = leaving[*vertex].get(*next) else {
                    state[*vertex] = Walk::Done;
                    left.push(*vertex);
                    way.pop();
                    continue;
                };
                *next += 1;
                let to = edges[edge].1;
                match state[to] {
                    Walk::Ahead => {
                        state[to] = Walk::Inside;
                        way.push((to, 0));
                    }
                    Walk::Inside => back[edge] = true,
                    Walk::Done => {}
                }
            }
        }
        let mut layer = vec![0_usize; vertices];
        for vertex in left.into_iter().rev() {
            for &edge in leaving[vertex].iter().filter(|edge| !back[**edge]) {
                let to = edges[edge].1;
                layer[to] = layer[to].max(layer[vertex] + 1);
            }
        }
        let forward = edges.iter().zip(&back).filter(|(_, back)| !**back);
        let passed = forward.map(|((from, to), _)| layer[*to] - layer[*from] - 1).sum();
        Self { back, passed }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Walk {
    Ahead,
    Inside,
    Done,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_ways_back_are_found() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 0), (0, 3)];
        let layers = Layers::new(4, &edges);
        assert_eq!(layers.back, [false, false, true, true, false, true, false]);
        assert_eq!(layers.passed, 2);
    }

    #[test]
    fn a_cycle_that_nothing_leads_to_is_opened_too() {
        assert_eq!(Layers::new(3, &[(1, 2), (2, 1)]).back, [false, true]);
        assert_eq!(Layers::new(0, &[]), Layers { back: vec![], passed: 0 });
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<_> = (1..100_000).map(|index| (index - 1, index)).collect();
        assert!(Layers::new(100_000, &edges).back.iter().all(|back| !back));
    }
}
