/* Shows that a ns of CPU time is an instruction here: loops of a known number of instructions, timed by the clock that
 * getrusage is made of. Prints ns for each instruction; exit code 1 where it is not one. */
#include <stdio.h>
#include <time.h>

static double cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(void)
{
	int wrong = 0;

	for (unsigned long loops = 10000000; loops <= 40000000; loops *= 2) {
		unsigned long left = loops;
		double begun = cpu_ns();

		__asm__ volatile("1: nop\n\tnop\n\tdec %0\n\tjnz 1b" : "+r"(left)::"cc");
		double ratio = (cpu_ns() - begun) / (4.0 * loops);

		printf("%lu instructions: %.4f ns each\n", 4 * loops, ratio);
		/* The interrupts of the clock are in it. */
		wrong |= ratio < 0.99 || ratio > 1.02;
	}
	return wrong;
}
