//! What every long-term store has to do, as tests for any implementation.

mod embedder;
mod kit;

#[doc(hidden)]
pub mod checks;

pub use embedder::WordEmbedder;
#[doc(hidden)]
pub use kit::{Kit, Made, run};

/// Makes a test of each behaviour that [`LongTermStore`](crate::longterm::LongTermStore) promises.
///
/// It takes a closure that makes an empty store of the given
/// [`LongTermSettings`](crate::longterm::LongTermSettings); it is called once or twice for each test, and every store
/// that it makes is empty at first. It may also give a pair of the store and something that has to live as long, or an
/// `Option`: `None` skips the test, where a server isn't there.
///
/// ```
/// # mod tests {
/// use graph_engine::longterm::MemoryLongTerm;
///
/// graph_engine::long_term_store_conformance!(|settings| async move { MemoryLongTerm::with(settings) });
/// # }
/// ```
#[macro_export]
macro_rules! long_term_store_conformance {
    ($make:expr) => {
        $crate::long_term_store_conformance! { @checks $make;
            items {
                what_was_put_is_given_back_with_its_times
                a_second_put_keeps_the_time_of_creation_and_moves_that_of_the_update
                a_value_that_was_given_back_and_changed_changes_nothing_stored
                values_of_all_kinds_come_back_as_they_were_put
                reads_create_nothing
                a_deleted_item_is_gone_and_a_second_delete_says_so
                an_item_that_is_put_again_after_a_delete_is_a_new_one
                keys_and_namespaces_are_data
                equal_keys_of_two_namespaces_are_two_items
                a_large_item_is_kept_whole
                a_value_that_is_too_deep_is_refused
            }
            batches {
                each_operation_sees_what_those_before_it_did
                nothing_of_a_batch_is_done_if_one_operation_is_impossible
                single_calls_and_batches_refuse_the_same
                an_empty_batch_has_no_answers
                many_writers_lose_nothing
                the_last_of_two_puts_of_one_key_stands
            }
            filters {
                an_item_without_the_field_does_not_match_and_is_no_error
                comparisons_are_typed
                numbers_are_compared_by_their_exact_worth
                texts_are_compared_by_their_bytes
                every_test_finds_what_it_says
                paths_lead_through_objects_and_lists
                values_of_conditions_are_data
                all_conditions_have_to_pass
                a_comparison_with_what_has_no_order_is_refused
            }
            pages {
                a_search_finds_the_namespace_and_what_is_inside_of_it
                a_search_finds_ten_unless_told_otherwise
                pages_are_complete_and_never_overlap
                items_come_in_the_order_that_was_asked_for
                a_filter_is_looked_at_before_the_page_is_cut
            }
            listings {
                namespaces_are_listed_once_and_in_order
                a_prefix_and_a_suffix_are_whole_labels
                a_depth_cuts_and_joins
                a_page_of_namespaces_is_cut_behind_everything_else
                a_namespace_is_there_for_as_long_as_it_holds_an_item
            }
            times {
                an_item_is_gone_when_its_time_is_over
                a_put_says_for_itself_how_long
                a_put_begins_the_time_anew_or_ends_it
                a_read_refreshes_only_if_asked
                a_sweep_clears_away_what_is_over_and_counts_it
                what_is_over_is_put_as_new
                a_write_clears_away_what_is_over
                the_longest_time_is_no_error
            }
            texts {
                all_words_have_to_occur_whatever_their_case
                words_are_whole_and_keys_are_none
                the_words_of_other_scripts_are_found
                signs_of_query_languages_are_no_signs
                a_text_without_a_word_is_refused
                words_follow_puts_and_deletes
                a_search_by_text_has_scores_and_the_best_comes_first
                a_text_and_a_filter_narrow_together
            }
            meanings {
                the_nearest_item_comes_first_with_its_cosine
                only_the_named_fields_count_and_the_nearest_decides
                an_item_without_a_vector_is_not_found_by_meaning
                without_an_embedder_a_search_by_meaning_is_refused
                vectors_follow_puts_and_deletes
                a_batch_is_embedded_in_one_call
                a_broken_embedder_stores_nothing
                a_filter_a_text_and_a_meaning_narrow_together
                a_vector_of_another_length_is_refused
            }
        }
    };
    (@checks $make:expr; $($file:ident { $($name:ident)* })*) => {
        $($(
            #[test]
            fn $name() {
                $crate::testing::longterm::run($make, $crate::testing::longterm::checks::$file::$name);
            }
        )*)*
    };
}
