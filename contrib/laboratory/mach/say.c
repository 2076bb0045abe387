/* Words and numbers for the console, without a C library. They are kept to the end: while sessions run, no console works. */
#include "session.h"

static char kept[1 << 20];
static u32 used;

void say_all(void)
{
	kept[used] = 0;
	put(kept);
	used = 0;
}

void say(const char *text)
{
	for (; *text; text++) {
		if (used == sizeof kept - 1)
			say_all();
		kept[used++] = *text;
	}
}

void say_number(u64 number)
{
	char text[21];
	char *digit = text + sizeof text - 1;
	u32 high, low, rest;

	/* In two halves of nine digits: the C library that divides 64 bits is not here. */
	*digit = 0;
	do {
		high = number >> 32;
		low = (u32)number;
		rest = high % 10;
		high /= 10;
		__asm__("divl %2" : "=a"(low), "=d"(rest) : "r"(10u), "a"(low), "d"(rest));
		number = (u64)high << 32 | low;
		*--digit = '0' + rest;
	} while (number);
	say(digit);
}
