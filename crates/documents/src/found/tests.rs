//! Judgements by intervals, and what a run found as they ask for it.

use super::*;

fn estimate(low: f64, high: f64) -> Estimate {
    Estimate { value: (low + high) / 2.0, low, high, extremes: false }
}

#[test]
fn an_interval_decides_unless_it_lies_across_an_edge() {
    assert_eq!(within(&estimate(34.0, 40.0), 33.0, 48.0), Judgement::Holds);
    assert_eq!(within(&estimate(150.0, 160.0), 33.0, 48.0), Judgement::DoesNotHold);
    assert_eq!(within(&estimate(1.0, 2.0), 33.0, 48.0), Judgement::DoesNotHold);
    assert_eq!(within(&estimate(40.0, 50.0), 33.0, 48.0), Judgement::Unclear);
    assert_eq!(more(&estimate(3.0, 4.0), &estimate(1.0, 2.0)), Judgement::Holds);
    assert_eq!(more(&estimate(1.0, 2.0), &estimate(3.0, 4.0)), Judgement::DoesNotHold);
    assert_eq!(more(&estimate(1.0, 3.0), &estimate(2.0, 4.0)), Judgement::Unclear);
}

#[test]
fn an_interval_that_is_printed_has_a_width() {
    let close = Estimate { value: 26.783, low: 26.761, high: 26.809, extremes: false };
    assert_eq!(ranged(&close, 1.0, 1, " ns"), "26.78 ns (26.76 .. 26.81)");
    assert_eq!(ranged(&estimate(0.25, 0.75), 100.0, 0, " %"), "50 % (25 .. 75)");
    assert_eq!(times(&estimate(0.947, 0.947)), "0.9x");
    assert_eq!(ranged(&estimate(1.0, 1.000_000_1), 1.0, 1, ""), "1.0");
}

#[test]
fn a_sentence_of_several_parts_can_hold_in_part() {
    use Judgement::{DoesNotHold, Holds, HoldsInPart, Unclear};
    for (parts, whole) in [
        (vec![Holds, Holds], Holds),
        (vec![DoesNotHold, DoesNotHold], DoesNotHold),
        (vec![Holds, DoesNotHold], HoldsInPart),
        (vec![Holds, Unclear, DoesNotHold], HoldsInPart),
        (vec![Holds, Unclear], Unclear),
        (vec![DoesNotHold, Unclear], Unclear),
        (vec![], Unclear),
    ] {
        assert_eq!(of_parts(&parts), whole, "{parts:?}");
    }
}

#[test]
fn a_figure_of_a_machine_and_a_single_run_have_no_verdict() {
    assert_eq!(beside("4.5", Some("5".to_owned())), (Judgement::ItsMachine, "there 4.5, here 5".to_owned()));
    assert_eq!(shown(Some("5 ns".to_owned())).0, Judgement::NotJudged);
    assert_eq!(
        (beside("4.5", None).0, shown(None).0),
        (Judgement::NotTestableHere, Judgement::NotTestableHere)
    );
}

#[test]
fn counts_are_grouped() {
    assert_eq!([5, 1000, 20_000, 1_000_000].map(grouped), ["5", "1 000", "20 000", "1 000 000"]);
}

#[test]
fn what_was_not_measured_is_not_judged() {
    let found = Found::of(&[], &[], &[]);
    assert!(found.floor("x").is_none() && found.calls("x").is_none() && !found.checked("x"));
    assert_eq!(judged(None).0, Judgement::NotTestableHere);
}

#[test]
fn the_ends_of_an_interval_belong_to_the_bounds() {
    assert_eq!(within(&estimate(33.0, 48.0), 33.0, 48.0), Judgement::Holds);
    assert_eq!(within(&estimate(48.0, 60.0), 33.0, 48.0), Judgement::Unclear);
    assert_eq!(within(&estimate(20.0, 33.0), 33.0, 48.0), Judgement::Unclear);
    assert_eq!(more(&estimate(2.0, 3.0), &estimate(1.0, 2.0)), Judgement::Unclear);
    assert_eq!(more(&estimate(1.0, 2.0), &estimate(2.0, 3.0)), Judgement::Unclear);
    assert_eq!((holds_if(true), holds_if(false)), (Judgement::Holds, Judgement::DoesNotHold));
}

#[test]
fn only_what_was_measured_has_numbers_and_what_was_not_says_why() {
    let mut figures =
        vec![test::figure("a", "floor", 10.0, Some(2.0)), test::figure("b", "floor", 5.0, None)];
    figures[1].status = Status::Unsupported;
    figures[1].why = Some("one CPU".to_owned());
    figures[1].remedy = Some("add one".to_owned());
    figures[0].evidence.verdict = Verdict::Checked;
    let found = Found::of(&figures, &[], &[]);
    assert_eq!(found.floor("a").map(|it| (it.value, it.low)), Some((10.0, 9.95)));
    assert_eq!((found.literal("a", "floor"), found.literal("a", "median")), (Some(10.0), None));
    assert_eq!((found.floor("b"), found.floor("c")), (None, None));
    assert_eq!(found.lack("b").as_deref(), Some("unsupported: one CPU: add one"));
    assert_eq!((found.lack("a"), found.lack("c")), (None, None));
    assert!(found.checked("a") && !found.checked("b") && !found.checked("c"));
    assert_eq!((found.calls("a"), found.calls("b")), (Some(2.0), None), "an audit that was not made is no 0");
    let counted = found.counted("a").expect("an audit");
    assert_eq!(
        (counted.0.as_str(), counted.1, counted.2),
        ("a", "system_calls", Some(Measured::counted(2.0)))
    );
    assert!(found.counted("b").is_none());
}

#[test]
fn a_pair_is_found_by_both_its_names_and_its_quantity() {
    let mut floors = test::result::ratio("a", "b", 3.0);
    floors.quantity = "floor".to_owned();
    let mut withheld = test::result::ratio("b", "a", 1.0);
    withheld.low = None;
    let ratios = [floors, test::result::ratio("a", "c", 5.0), test::result::ratio("a", "b", 2.0), withheld];
    let found = Found::of(&[], &ratios, &ratios[1..2]);
    let value = |estimate: Option<Estimate>| estimate.map(|it| it.value);
    let difference = |to: &str| found.difference("a", to).map(Measured::estimate);
    assert_eq!(value(found.ratio("a", "b")), Some(2.0));
    assert_eq!(value(found.ratio_of("a", "b", "floor")), Some(3.0));
    assert_eq!((value(found.ratio("b", "a")), value(found.ratio("b", "c"))), (None, None));
    assert_eq!((value(difference("c")), value(difference("b"))), (Some(5.0), None));
    let intervals = [found.ratio("a", "b"), found.ratio_of("a", "b", "floor")];
    assert!(intervals.iter().flatten().all(|it| !it.extremes), "paired values have intervals");
}

#[test]
fn a_quotient_within_launches_is_the_median_of_theirs() {
    let mut figure = test::figure("a", "floor", 10.0, None);
    for (of, to) in [(10.0, 5.0), (30.0, 10.0), (8.0, 2.0), (7.0, 0.0)] {
        let mut launch = oscost_results::LaunchRecord::default();
        launch.quantities.insert("of".to_owned(), of);
        launch.quantities.insert("to".to_owned(), to);
        figure.launches.push(launch);
    }
    let figures = [figure];
    let found = Found::of(&figures, &[], &[]);
    let quotient = found.within_launches("a", "of", "to").expect("launches");
    assert_eq!((quotient.value, quotient.low, quotient.high, quotient.extremes), (3.0, 2.0, 4.0, true));
    assert!(found.within_launches("a", "of", "other").is_none());
}

#[test]
fn a_row_names_what_decides_it() {
    let figures = [test::figure("a", "floor", 10.0, Some(2.0))];
    let found = Found::of(&figures, &[], &[]);
    let mut rows = Rows::of("tlpi");
    rows.statement("here", Quoted("theirs"), judged(None));
    rows.statement("there", Ours("ours"), (Judgement::Holds, "it does".to_owned()));
    rows.by("a", "floor", found.floor("a"));
    rows.statement("counted", Quoted("two calls"), (Judgement::Holds, String::new()));
    rows.by_count(&found, "a");
    let [first, second, third] = &rows.rows[..] else { panic!("three rows") };
    assert_eq!((first.ours, second.ours, &first.figure_id), (false, true, &None));
    assert_eq!((first.document.as_str(), second.because.as_str()), ("tlpi", "it does"));
    assert_eq!((second.figure_id.as_deref(), second.quantity.as_deref()), (Some("a"), Some("floor")));
    assert_eq!(second.measured.map(|it| it.value), Some(10.0));
    assert_eq!(
        (third.quantity.as_deref(), third.measured.map(|it| it.value)),
        (Some("system_calls"), Some(2.0))
    );
}

#[test]
fn a_value_is_no_statement_and_names_what_answers_it() {
    let mut rows = Rows::of("ostep");
    rows.value(Value { published: Some(3.0), ..Value::in_table("Steps", "tsc", "step", "ns") });
    rows.value(Value { answer: Some(("a".to_owned(), "floor", None)), ..Value::at("alone", "us") });
    let [cell, alone] = &rows.rows[..] else { panic!("two rows") };
    assert_eq!(
        (cell.place.as_str(), cell.published, cell.unit.as_str()),
        ("Steps: tsc, step", Some(3.0), "ns")
    );
    assert_eq!((cell.ours, &cell.statement, cell.verdict, &cell.figure_id), (false, &None, None, &None));
    assert_eq!((alone.figure_id.as_deref(), alone.quantity.as_deref()), (Some("a"), Some("floor")));
    assert_eq!((&alone.cell, alone.measured), (&None, None));
}

#[test]
fn a_quotient_is_as_wide_as_both_its_intervals_allow() {
    let of = |low, high, extremes| Estimate { extremes, ..estimate(low, high) };
    let found = quotient(&of(20.0, 40.0, false), &of(4.0, 8.0, false)).expect("a quotient");
    assert_eq!(found, Estimate { value: 5.0, low: 2.5, high: 10.0, extremes: false });
    for (one, other) in [(true, false), (false, true), (true, true)] {
        let found = quotient(&of(1.0, 2.0, one), &of(1.0, 2.0, other)).expect("a quotient");
        assert!(found.extremes, "of extremes follow extremes");
    }
    assert_eq!(quotient(&of(1.0, 2.0, false), &of(0.0, 2.0, false)), None, "it may be infinite");
    assert!(quotient(&of(1.0, 2.0, false), &of(0.5, 2.0, false)).is_some());
}

#[test]
fn words_tell_one_decimal_and_the_interval() {
    assert_eq!(times(&estimate(1.04, 2.06)), "1.6x (1.0 .. 2.1)");
    assert_eq!(times_to_hundredths(&estimate(1.0, 1.04)), "1.02x (1.00 .. 1.04)");
}

/// A view cuts no words: what is drawn over a number, and has brackets of words in its table's title, has a title of its own.
#[test]
fn plots_are_called_by_data() {
    let mut called = 0;
    for document in crate::ALL {
        let rows = document.judge(&Found::of(&[], &[], &[]), &crate::DocumentParameters::default());
        let cells: Vec<&oscost_results::Cell> = rows.iter().filter_map(|row| row.cell.as_ref()).collect();
        let drawn_together = |table: &str| cells.iter().any(|it| it.table == table && it.series.is_some());
        for cell in cells.iter().filter(|it| !drawn_together(&it.table)) {
            let Some(axis) = &cell.axis else { continue };
            let says_more = cell.table.split('(').skip(1).any(|it| it.starts_with(char::is_alphabetic));
            assert_eq!(axis.short_title.is_some(), says_more, "{}", cell.table);
            assert!(axis.short_title.iter().all(|short| cell.table.starts_with(&**short)), "{}", cell.table);
            called += usize::from(says_more);
        }
    }
    assert!(called > 10, "{called}");
}

#[test]
fn an_interval_is_shown_to_three_decimals_more_at_most() {
    assert_eq!(ranged(&estimate(1.0, 1.0002), 1.0, 1, " s"), "1.0001 s (1.0000 .. 1.0002)");
    assert_eq!(ranged(&estimate(1.0, 1.000_04), 1.0, 1, " s"), "1.0 s");
}

#[test]
fn runs_and_cpus_are_told_in_words() {
    let mut figures = vec![test::figure("a", "floor", 10.0, None)];
    for (runs, words) in [(0, "a single run"), (1, "a single run"), (2, "2 runs, their median")] {
        test::repeat(&mut figures[0], runs);
        assert_eq!(Found::of(&figures, &[], &[]).runs("a"), words);
    }
    assert_eq!(Found::of(&figures, &[], &[]).runs("b"), "a single run");
    for (cpus, words) in [(None, ""), (Some(1), " on 1 CPU"), (Some(2), " on 2 CPUs")] {
        assert_eq!(Found { cpus, ..Found::of(&[], &[], &[]) }.on_cpus(), words);
    }
}

#[test]
fn what_has_no_words_of_its_own_has_its_state_alone() {
    let mut lacking = test::figure("a", "floor", 10.0, None);
    (lacking.status, lacking.why) = (Status::Unsupported, Some(String::new()));
    assert_eq!(Found::of(&[lacking], &[], &[]).lack("a").as_deref(), Some("unsupported"));
}

#[test]
fn what_a_literal_program_printed_six_times_has_an_interval() {
    let mut figures = vec![test::figure("a/literal/b", "average", 10.0, None)];
    for (runs, repeated) in [(1, false), (5, false), (6, true), (7, true)] {
        test::repeat(&mut figures[0], runs);
        let found = Found::of(&figures, &[], &[]);
        assert_eq!(found.repeated("a/literal/b", "average").is_some(), repeated, "{runs}");
        assert_eq!(found.quantity("a/literal/b", "average").is_some(), runs > 1, "{runs}");
        assert_eq!(found.literal("a/literal/b", "average"), Some(10.0));
    }
}

#[test]
fn a_cell_knows_its_axis_and_what_the_document_has_lost() {
    let plain = || Value::in_table("Means (ours)", "2", "mean", "us");
    let axis = |value: Value<'_>| value.cell.and_then(|cell| cell.axis);
    assert_eq!(axis(plain().lost().called("Means")), None, "a row that stands for no number");
    let kept = axis(plain().on_axis(2, "clients")).expect("an axis");
    assert_eq!((kept.at, kept.counts.as_str(), kept.lost, kept.short_title), (2, "clients", false, None));
    let lost = axis(plain().on_axis(2, "clients").lost().called("Means")).expect("an axis");
    assert_eq!((lost.at, lost.lost, lost.short_title.as_deref()), (2, true, Some("Means")));
}

#[test]
fn a_row_that_is_computed_has_a_number_and_no_figure() {
    let mut rows = Rows::of("tlpi");
    rows.computed(Value::at("ratio", "ratio"), Some(estimate(2.0, 4.0)));
    rows.note("here", "why");
    rows.deviations(&[("CPU", "pinned")]);
    let told = |row: &Reproduction| (row.place.clone(), row.because.clone(), row.measured.map(|it| it.value));
    let row = |place: &str, because: &str, value| (place.to_owned(), because.to_owned(), value);
    let expected =
        [row("ratio", "", Some(3.0)), row("here", "why", None), row("differs: CPU", "pinned", None)];
    assert_eq!(rows.rows.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(rows.rows.iter().all(|row| row.figure_id.is_none() && row.document == "tlpi"));
}

#[test]
fn what_was_counted_needs_no_interval() {
    let of =
        |quantity: Option<&str>| Reproduction { quantity: quantity.map(str::to_owned), ..Default::default() };
    let counted =
        [Some("system_calls"), Some("voluntary_switches"), Some("floor"), None].map(|it| is_counted(&of(it)));
    assert_eq!(counted, [true, true, false, false]);
}

#[test]
fn a_single_run_says_that_it_has_no_verdict() {
    let told = (Judgement::NotJudged, "5 ns; fewer than 6 runs, so no verdict".to_owned());
    assert_eq!(judged_or_shown(None, Some("5 ns".to_owned())), told);
    let judged_here = (Judgement::Holds, "6 runs".to_owned());
    assert_eq!(judged_or_shown(Some(judged_here.clone()), Some("5 ns".to_owned())), judged_here);
}
