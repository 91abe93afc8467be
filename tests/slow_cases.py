"""Parametrised tests of which `make test` takes some cases: those that check the same once more are slow."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(quick: Collection[Any], cases: Iterable[Any]) -> list[Any]:
    """Every case, marked `slow` but for those that are quick; each of the quick ones is a case."""
    every = [*cases]
    assert all(case in every for case in quick), "no case is named so"
    return [case if case in quick else pytest.param(case, marks=pytest.mark.slow) for case in every]


SECOND_CASES = frozenset(
    {
        "api/test_documents_of_studies.py::test_a_study_has_its_page[topology]",
        "calibrate/test_hold_outs.py::test_what_is_left_out_has_no_part_in_what_is_learned[larger]",
        "calibrate/test_microbenchmarks.py::test_a_screen_is_as_wide_as_asked[160]",
        "cli/test_caveats.py::test_what_is_not_followed_of_an_own_model_is_said[predict]",
        "cli/test_compare.py::test_every_form_can_be_saved[.pdf]",
        "cli/test_every_output.py::test_no_line_is_wider_than_the_screen[explain-60-False]",
        "cli/test_every_output.py::test_no_line_is_wider_than_the_screen[plan-serving-60-False]",
        "cli/test_nearest_holds.py::test_every_change_shown_for_the_nearest_machine_is_enough[p99]",
        "cli/test_scale_command.py::test_each_suffix[.pdf]",
        "engines/test_queue_percentiles.py::test_p99_of_equal_batches_is_that_of_m_d_c[4-0.8]",
        "engines/test_queue_percentiles.py::test_p99_of_exponential_batches_is_that_of_m_m_c[1-0.5]",
        "faults/test_hostile_places.py::test_a_disk_that_fills_up_leaves_the_old_file_and_the_answer_on_the_screen[5000]",
        "faults/test_hostile_places.py::test_a_full_disk_ends_a_sweep_with_whole_lines_and_it_goes_on_later[100]",
        "files/test_limits.py::test_a_large_file_is_read_or_refused_in_time[an inline table]",
        "files/test_limits.py::test_a_large_file_is_read_or_refused_in_time[blank lines]",
        "files/test_limits.py::test_a_large_file_is_read_or_refused_in_time[one text]",
        "files/test_limits.py::test_a_large_file_is_read_or_refused_in_time[tables without their keys]",
        "planning/test_advising.py::test_no_storage_that_predict_chooses_from_is_left_out[bert-large-512-64]",
        "planning/test_borrowed_configurations.py::test_a_gpt_j_of_another_depth_is_cut_as_the_published_one[27]",
        "planning/test_borrowed_configurations.py::test_hosts_are_those_of_the_published_network[13]",
        "planning/test_fastest_shards.py::test_no_size_of_a_replica_is_faster_than_what_the_search_takes[4]",
        "planning/test_idle.py::test_time_to_train_never_rises_with_the_size_of_the_machine[bert-flags7]",
        "planning/test_language_model_defaults.py::test_gpt3_on_16384_ipus_trains_at_the_batch_of_its_paper[gc200]",
        "planning/test_language_model_defaults.py::test_llama_finds_a_mapping_and_a_batch_without_flags[llama31-8b-256]",
        "planning/test_network_presets.py::test_networks_for_inference_train_and_answer[clip-text]",
        "planning/test_serving_plan.py::test_a_budget_that_would_do_holds_as_it_is_shown",
        "planning/test_serving_plan.py::test_room_to_grow_and_spare_machines_are_bought_too",
        (
            "planning/test_serving_rate.py"
            "::test_a_calendar_of_events_meets_p99_just_below_the_rate_and_misses_it_just_above[4-2-0.003]"
        ),
        "planning/test_shipped_against_imported.py::test_a_vision_transformer_of_fewer_layers_is_as_fast_as_one_of_more",
        "planning/test_shipped_against_imported.py::test_training_is_that_of_the_shipped_workload[resnet50]",
        "planning/test_idle.py::test_throughput_and_use_are_those_of_the_ipus_that_train",
        "planning/test_language_model_defaults.py::test_tensor_parallel_and_gradient_all_reduce_are_apart",
        "planning/test_near_batches.py::test_no_batch_is_named_that_saves_less_than_a_twentieth[16-4624]",
        "planning/test_plan.py::test_a_table_of_candidates_says_of_how_many_pareto_optimal_machines_it_has_some",
        "planning/test_shorter_rows.py::test_a_plan_names_the_usual_sequence",
        "predicting/test_changed_inputs.py::test_the_screen_names_changes_with_their_values_before",
        "predicting/test_explained_faults.py::test_an_alternative_takes_what_its_flags_predict_with_the_faults[link]",
        "predicting/test_full_pipeline.py::test_a_longer_step_takes_a_period_for_each_micro_batch_more[1F1B]",
        "predicting/test_full_pipeline.py::test_a_search_times_its_choice_as_the_answer_does[1F1B]",
        "properties/test_shipped_names.py::test_a_few_names_answer_or_are_refused[compare]",
        "report/test_documents.py::test_hostile_names_are_text_in_office_files_of_the_same_bytes[docx]",
        (
            "report/test_screen_details.py"
            "::test_stated_samples_are_a_length_and_no_target[llama31-8b-24.6 B tokens, given]"
        ),
        "tiles/test_reduction_plan.py::test_more_tiles_never_make_a_slower_sum[195090-21]",
        "tiles/test_splitting.py::test_a_product_that_is_huge_in_every_dimension_is_planned_in_little_memory[<lambda>2]",
        "tiles/test_splitting.py::test_a_product_that_is_huge_in_every_dimension_is_planned_in_little_memory[<lambda>3]",
        (
            "planning/test_plan_wall_clock.py"
            "::test_the_machine_named_is_the_one_recommended_with_a_cached_executable[bert-asked3]"
        ),
        (
            "planning/test_plan_wall_clock.py"
            "::test_the_machine_named_is_the_one_recommended_with_a_cached_executable[resnet50-asked1]"
        ),
        "planning/test_fixed_length.py::test_a_run_of_stated_length_takes_its_steps_and_nothing_else[4]",
        "planning/test_fixed_length.py::test_a_run_of_stated_length_takes_its_steps_and_nothing_else[64]",
        "planning/test_idle.py::test_no_mapping_trains_sooner_than_its_busiest_ipu_computes[llama-64]",
        (
            "planning/test_borrowed_configurations.py"
            "::test_a_network_without_a_recipe_says_that_its_batch_is_a_round_number"
        ),
        "cli/test_infer_command.py::test_each_suffix[.pdf]",
        "cli/test_trace.py::test_a_pipeline_without_barriers_is_cut_too",
        "planning/test_inference.py::test_a_rate_that_cannot_be_answered_names_one_that_can",
        "planning/test_serving_plan.py::test_machines_without_ipus_are_left_out_and_said",
        (
            "planning/test_serving_rate.py"
            "::test_infer_meets_p99_just_below_the_rate_and_misses_it_just_above[resnet50-m2000-]"
        ),
        "cli/test_every_output.py::test_no_line_is_wider_than_the_screen[plan-serving-60-True]",
    }
)
"""Tests of a second or more, of which a quicker one shows the same: `make test-slow` has them."""
