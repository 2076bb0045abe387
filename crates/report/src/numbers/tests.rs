//! Numbers as they are shown: both sides of each place where that changes.

use super::*;

fn estimate(low: f64, value: f64, high: f64) -> Estimate {
    Estimate { value, low, high, extremes: false }
}

#[test]
fn the_ends_of_an_interval_are_told_apart() {
    assert_eq!(range(154.6, 155.3, "ns"), "154.6 .. 155.3 ns");
    assert_eq!(range(10.02, 10.03, "ns"), "10.02 .. 10.03 ns");
    assert_eq!(range(155.0, 155.0, "ns"), "155 ns");
    assert_eq!(range(0.946_6, 0.947_2, "share"), "94.66 .. 94.72 %");
    assert_eq!(ratio(0.947, Some((0.946_6, 0.947_4))), "0.947x (0.9466 .. 0.9474)");
}

#[test]
fn durations_change_unit_where_the_rounded_value_does() {
    for (ns, text) in [
        (0.0, "0 ns"),
        (0.1234, "0.123 ns"),
        (5.444, "5.44 ns"),
        (22.21, "22.2 ns"),
        (885.4, "885 ns"),
        (999.4, "999 ns"),
        (999.7, "1.00 us"),
        (2410.0, "2.41 us"),
        (999_600.0, "1.00 ms"),
        (39_691_000.0, "39.7 ms"),
        (1e9, "1.00 s"),
        (1.2345e13, "12345 s"),
        (1e16, "1.00e7 s"),
        (-3.2, "-3.20 ns"),
        (-1500.0, "-1.50 us"),
        (1e-6, "1.00e-6 ns"),
        (f64::NAN, "no number s"),
    ] {
        assert_eq!(duration(ns), text, "{ns}");
    }
}

#[test]
fn counts_shares_ratios_and_foreign_units() {
    assert_eq!([count(0.0), bytes(512.0), bytes(16_384.0)], ["0", "512 B", "16 KiB"]);
    assert_eq!(count(2.0), "2");
    assert_eq!(count(1_000_000.0), "1 000 000");
    assert_eq!(count(-12_345.0), "-12 345");
    assert_eq!(count(0.5), "0.500");
    assert_eq!(count(1e300), "1.00e300");
    assert_eq!(percent(0.18), "18 %");
    assert_eq!(percent(0.00215), "0.215 %");
    assert_eq!([0.004, 1.26, 1e6, f64::MAX].map(whole_percent), ["0 %", "126 %", "1.00e8 %", "no number %"]);
    assert_eq!(quantity(1.1, "ratio"), "1.10x");
    assert_eq!(quantity(1.1, "cycles"), "1.10 cycles");
    assert_eq!([0.25, 12_345.6].map(|it| quantity(it, "count")), ["0.250", "12 346"]);
    assert_eq!(ratio(163.1, Some((161.2, 164.0))), "163x (161 .. 164)");
    assert_eq!(ratio(0.9871, None), "0.987x");
}

#[test]
fn an_interval_is_a_half_width_only_where_that_says_enough() {
    assert_eq!(interval(&estimate(5.43, 5.44, 5.455), "ns", true), "± 0.3 %");
    assert_eq!(interval(&estimate(5.44, 5.44, 5.44), "ns", true), "± 0 %");
    assert_eq!(interval(&estimate(99.96, 100.0, 100.0), "ns", false), "+- 0.1 %");
    // Narrow but one-sided is still a half-width; wider and one-sided is not.
    assert_eq!(interval(&estimate(100.0, 100.0, 100.9), "ns", true), "± 0.9 %");
    assert_eq!(interval(&estimate(100.0, 100.0, 104.0), "ns", true), "100 .. 104 ns");
    assert_eq!(interval(&estimate(96.5, 100.0, 104.0), "ns", true), "± 4.0 %");
    assert_eq!(interval(&estimate(12_300.0, 14_000.0, 41_000.0), "ns", true), "12.3 .. 41.0 us");
    assert_eq!(interval(&estimate(850.0, 900.0, 1200.0), "ns", true), "850 ns .. 1.20 us");
    let extremes = Estimate { extremes: true, ..estimate(5.4, 5.44, 5.5) };
    assert_eq!(interval(&extremes, "ns", true), "[5.40 .. 5.50 ns]");
    let sum = Estimate { extremes: true, ..estimate(3.0, 3.0, 3.0) };
    assert_eq!(interval(&sum, "count", true), "");
}

#[test]
fn bounds_name_their_unit_once_if_they_share_it() {
    assert_eq!(range(12_300.0, 41_000.0, "ns"), "12.3 .. 41.0 us");
    assert_eq!(range(900.0, 2e9, "ns"), "900 ns .. 2.00 s");
    assert_eq!(range(0.1, 0.25, "share"), "10 .. 25 %");
    assert_eq!(range(1000.0, 2000.0, "count"), "1 000 .. 2 000");
    assert_eq!(range(1.0, 2.0, "ratio"), "1.00x .. 2.00x");
    assert_eq!(range(1.0, 2.0, "lines a second"), "1.00 .. 2.00 lines a second");
}

#[test]
fn an_interval_around_zero_or_upside_down_shows_its_bounds() {
    assert_eq!(interval(&estimate(-1.0, 0.0, 2.0), "ns", true), "-1.00 .. 2.00 ns");
    assert_eq!(interval(&estimate(3.0, 2.0, 1.0), "ns", true), "3.00 .. 1.00 ns");
    assert_eq!(half_width(&estimate(-1.0, 0.0, 2.0)), None);
    assert_eq!(half_width(&estimate(3.0, 2.0, 1.0)), None);
    assert_eq!(half_width(&estimate(75.0, 100.0, 225.0)), Some(0.75));
}

#[test]
fn published_numbers_keep_their_digits() {
    assert_eq!((decimals_of(13.97), decimals_of(302.0), decimals_of(0.000_013)), (2, 0, 6));
    assert_eq!(as_printed(0.1, 2).as_deref(), Some("0.10"));
    assert_eq!(as_printed(39_691.4, 0).as_deref(), Some("39 691"));
    assert_eq!(as_printed(-4.5, 1).as_deref(), Some("-4.5"));
    assert_eq!(as_printed(0.004, 2), None, "no digit would be left");
    assert_eq!(published(0.000_013), "0.000013");
    assert_eq!(published(33.6), "33.6");
    assert_eq!(published(0.0), "0");
    assert_eq!(published(219_000_000.0), "219 000 000");
    assert_eq!(beside_published(0.000_009_012), "0.00000901");
    assert_eq!(beside_published(129.04), "129");
    assert_eq!(beside_published(0.0), "0");
    assert_eq!(beside_published(-2.5), "-2.50");
    assert_eq!(beside_published(1e20), "1.00e20");
    assert_eq!(beside_published(f64::INFINITY), "no number");
}

#[test]
fn numbers_are_read_to_the_digit() {
    let cases = [311.0, 9827.0, 12_757.0, 155.5, -24.0].map(exact);
    assert_eq!(cases, ["311", "9827", "12 757", "155.5", "-24"]);
    assert_eq!(exact(1_234_567.125), "1 234 567.125");
    assert_eq!([0.0, 0.9996, 1.0001, 2.0, 0.125].map(exact), ["0", "1", "1", "2", "0.125"]);
    assert_eq!([-0.0004, -0.0006].map(exact), ["0", "-0.001"], "nothing has no sign");
}

#[test]
fn digits_stay_until_an_exponent_is_shorter() {
    assert_eq!(
        [1e-3, 9.99e-4, 999_400.0, 999_600.0].map(significant),
        ["0.00100", "9.99e-4", "999400", "1.00e6"]
    );
    assert_eq!([999_999_999_999_999.0, 1e15].map(count), ["999 999 999 999 999", "1.00e15"]);
    assert_eq!([9_999.0, 1e4, -9_999.0].map(percent), ["999900 %", "1.00e6 %", "-999900 %"]);
    assert_eq!(
        [1e-9, 9e-10, 1e14, 1e15].map(published),
        ["0.000000001", "9.00e-10", "100 000 000 000 000", "1.00e15"]
    );
    assert_eq!(published(-0.5), "-0.5");
}

#[test]
fn half_widths_end_where_they_are_said_to() {
    let shown = |low, high| interval(&estimate(low, 100.0, high), "ns", true);
    // One per cent, however one-sided.
    assert_eq!(shown(100.0, 101.0), "± 1.0 %");
    assert_eq!(shown(100.0, 101.1), "100 .. 101 ns");
    // Ten per cent, where one side is at least half of the other.
    assert_eq!(shown(90.0, 110.0), "± 10.0 %");
    assert_eq!(shown(89.0, 111.0), "89.0 .. 111 ns");
    assert_eq!([shown(98.0, 104.0), shown(98.1, 104.0)], ["± 4.0 %", "98.1 .. 104 ns"]);
    // Rounded up, unless by less than counts.
    assert_eq!(shown(99.69, 100.0), "± 0.4 %");
    assert_eq!(shown(99.9, 100.1), "± 0.1 %");
}

#[test]
fn units_change_where_the_next_one_is_whole() {
    let shown = [1023.0, 1024.0, -2048.0, 1_048_575.0, 1_048_576.0, 1_073_741_824.0].map(bytes);
    assert_eq!(shown, ["1 023 B", "1 KiB", "-2 KiB", "1024 KiB", "1 MiB", "1 GiB"]);
    assert_eq!([1e4, 1.2e4, 9999.0].map(whole_percent), ["1.00e6 %", "1.20e6 %", "999900 %"]);
    assert_eq!([999.6, 1234.6, -1234.6].map(|it| quantity(it, "count")), ["1000", "1 235", "-1 235"]);
    assert_eq!([0.25, 0.125, 1.0].map(|it| quantity(it, "share")), ["25 %", "12.5 %", "100 %"]);
    assert_eq!(
        ["ns", "us", "ms", "s", "min"].map(nanoseconds),
        [Some(1.0), Some(1e3), Some(1e6), Some(1e9), None]
    );
}

/// Six digits are the most that is shown, and what they do not tell apart is shown by three.
#[test]
fn ends_that_hardly_differ_are_alike() {
    assert_eq!(range(100.001, 100.002, "ns"), "100.001 .. 100.002 ns");
    assert_eq!(range(100.000_1, 100.000_2, "ns"), "100 ns");
    assert_eq!(ratio(1.0, Some((1.000_01, 1.000_02))), "1.00x (1.00001 .. 1.00002)");
    assert_eq!(ratio(1.0, Some((1.000_001, 1.000_002))), "1.00x (1.00 .. 1.00)");
}

#[test]
fn ends_and_order_of_values() {
    assert_eq!(ends([2.0, -1.0, 5.0, 0.0]), (-1.0, 5.0));
    assert_eq!(ends([]), (f64::INFINITY, f64::NEG_INFINITY));
    assert_eq!(ascending([2.0, -1.0, 2.0, 0.5, -1.0]), [-1.0, 0.5, 2.0]);
}

#[test]
fn nothing_is_printed_as_the_column_prints_it() {
    assert_eq!(as_printed(0.0, 2).as_deref(), Some("0.00"));
    assert_eq!([as_printed(0.06, 1), as_printed(0.04, 1)], [Some("0.1".to_owned()), None]);
    assert_eq!([as_printed(1e15, 0), as_printed(f64::NAN, 0)], [None, None]);
    assert_eq!([1.2e12 + 0.5, 9.99e11 + 0.5].map(exact), ["1 200 000 000 000", "999 000 000 000.5"]);
}

#[test]
fn an_interval_in_a_sentence_has_brackets_where_it_is_two_numbers() {
    let shown = |low, high| in_brackets(&estimate(low, 100.0, high), "ns", false);
    assert_eq!([shown(99.9, 100.1), shown(50.0, 300.0)], ["+- 0.1 %", "(50.0 .. 300 ns)"]);
    let extremes = Estimate { extremes: true, ..estimate(50.0, 100.0, 300.0) };
    assert_eq!(in_brackets(&extremes, "ns", false), "[50.0 .. 300 ns]");
}
