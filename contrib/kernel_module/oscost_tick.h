/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* What /dev/oscost_tick understands; crates/sys/src/tick_device.rs speaks it. */
#ifndef OSCOST_TICK_H
#define OSCOST_TICK_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* First: how many ticks there will be. The page for them is made, and can be mapped for reading. */
struct oscost_tick_plan {
	__u64 ticks;
};

/* Then, when every client waits: ns of CLOCK_MONOTONIC of the first tick, and ns between ticks. */
struct oscost_tick_start {
	__u64 start;
	__u64 period;
};

#define OSCOST_TICK_PLAN _IOW('o', 0x71, struct oscost_tick_plan)
#define OSCOST_TICK_START _IOW('o', 0x72, struct oscost_tick_start)

/*
 * pread() of 8 bytes at offset n waits until there were more than n ticks, or there will be no more, and yields how many
 * there were.
 *
 * The page holds entries of two words: entry 0 is (ticks sent, done), entry 1 (ticks left out, due time of the first), entry
 * 2 (period, ticks wanted), and every later one (due time, stamp) of a tick.
 */
#define OSCOST_TICK_ENTRIES 3

#endif
