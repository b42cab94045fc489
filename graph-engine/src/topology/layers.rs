//! Which edges lead back or past others, so that the rest can be drawn from layer to layer.

/// The edges of a drawing, told apart.
#[derive(Debug)]
pub(super) struct Layers<'a> {
    edges: &'a [(usize, usize)],
    /// For each edge, whether it is left out of the picture. Without these there is no cycle.
    pub(super) left_out: Vec<bool>,
    layer: Vec<usize>,
    /// All vertices, each after all that it leads to.
    order: Vec<usize>,
}

impl<'a> Layers<'a> {
    /// Leaves out the edges that lead back.
    ///
    /// Walks into the depth, from the first vertex on, always along the first edge that is left. An edge to a vertex
    /// from which the walk came leads back. Takes linear time and no recursion.
    pub(super) fn new(vertices: usize, edges: &'a [(usize, usize)]) -> Self {
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
        for &vertex in left.iter().rev() {
            for &edge in leaving[vertex].iter().filter(|edge| !back[**edge]) {
                let to = edges[edge].1;
                layer[to] = layer[to].max(layer[vertex] + 1);
            }
        }
        Self { edges, left_out: back, layer, order: left }
    }

    /// How many layers the edges pass by: the lines that have to be led around nodes.
    pub(super) fn passed(&self) -> usize {
        let drawn = self.edges.iter().zip(&self.left_out).filter(|(_, left_out)| !**left_out);
        drawn.map(|((from, to), _)| self.layer[*to] - self.layer[*from] - 1).sum()
    }

    /// Leaves out the edges past others too: those to a vertex that other edges lead to, by way of other vertices.
    /// Takes room for the square of the vertices, in bits.
    pub(super) fn leave_out_detours(&mut self) {
        let vertices = self.layer.len();
        let words = vertices.div_ceil(64);
        let mut leaving = vec![Vec::new(); vertices];
        for (index, (from, to)) in self.edges.iter().enumerate() {
            if !self.left_out[index] {
                leaving[*from].push((self.layer[*to], index));
            }
        }
        let mut reached = vec![vec![0_u64; words]; vertices];
        for &vertex in &self.order {
            // From near to far: what leads on to a vertex lies before it.
            leaving[vertex].sort_unstable();
            let mut own = vec![0_u64; words];
            let mut near = vec![0_u64; words];
            for &(_, index) in &leaving[vertex] {
                let to = self.edges[index].1;
                let bit = 1 << (to % 64);
                if own[to / 64] & bit != 0 {
                    self.left_out[index] = true;
                    continue;
                }
                near[to / 64] |= bit;
                own.iter_mut().zip(&reached[to]).for_each(|(own, more)| *own |= more);
            }
            own.iter_mut().zip(&near).for_each(|(own, near)| *own |= near);
            reached[vertex] = own;
        }
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
        assert_eq!(layers.left_out, [false, false, true, true, false, true, false]);
        assert_eq!(layers.passed(), 2);
    }

    #[test]
    fn what_leads_past_others_is_found_and_what_is_double_stays() {
        let edges = [(0, 3), (0, 1), (1, 2), (2, 3), (1, 3), (0, 1), (3, 0), (0, 4)];
        let mut layers = Layers::new(5, &edges);
        layers.leave_out_detours();
        assert_eq!(layers.left_out, [true, false, false, false, true, false, true, false]);
        assert_eq!(layers.passed(), 0);
    }

    #[test]
    fn a_cycle_that_nothing_leads_to_is_opened_too() {
        assert_eq!(Layers::new(3, &[(1, 2), (2, 1)]).left_out, [false, true]);
        let mut empty = Layers::new(0, &[]);
        empty.leave_out_detours();
        assert_eq!((empty.left_out.len(), empty.passed()), (0, 0));
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<_> = (1..100_000).map(|index| (index - 1, index)).collect();
        assert!(Layers::new(100_000, &edges).left_out.iter().all(|left_out| !left_out));
    }
}
