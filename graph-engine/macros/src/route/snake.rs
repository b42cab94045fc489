//! Names of variants as names of nodes.

/// `CompareAll` as `compare_all`, `HTTPCall` as `http_call`, `Stage2` as `stage2`.
pub(crate) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                let inside = before.is_lowercase() || before.is_numeric();
                let last_of_acronym =
                    before.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
                inside || last_of_acronym
            });
        if starts_word {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn words_are_split_as_people_read_them() {
        for (variant, node) in [
            ("Quote", "quote"),
            ("CompareAll", "compare_all"),
            ("HTTPCall", "http_call"),
            ("CallHTTP", "call_http"),
            ("Stage2", "stage2"),
            ("Stage2Tools", "stage2_tools"),
            ("Explore_tools", "explore_tools"),
            ("A", "a"),
            ("ÉtatFinal", "état_final"),
        ] {
            assert_eq!(snake_case(variant), node);
        }
    }
}
