/* GNU Mach's calls: those that are traps, and those that are messages to the kernel. */
#ifndef KERNEL_H
#define KERNEL_H

#include <mach/message.h>
#include <mach/port.h>

/* traps.S; their numbers stand in <mach/syscall_sw.h>. */
extern mach_port_t mach_reply_port(void);
extern mach_port_t mach_task_self(void);
extern mach_port_t mach_thread_self(void);
extern mach_port_t mach_host_self(void);
extern void mach_print(const char *text);
extern int swtch(void);
extern int no_trap(void);
extern int syscall_task_create(mach_port_t parent, int inherit, mach_port_t *child);
extern int syscall_task_terminate(mach_port_t task);
extern int syscall_mach_port_allocate(mach_port_t task, int right, mach_port_t *name);
extern int syscall_mach_port_insert_right(mach_port_t task, mach_port_t name, mach_port_t right, int type);
extern int syscall_mach_port_deallocate(mach_port_t task, mach_port_t name);

/* Numbers of messages to the kernel, as mig gives them to the routines of mach.defs and mach_host.defs. */
enum kernel_routine {
	THREAD_SET_STATE = 2018,
	VM_INHERIT = 2025,
	THREAD_CREATE = 2061,
	THREAD_RESUME = 2063,
	PROCESSOR_SET_DEFAULT = 2606,
	HOST_KERNEL_VERSION = 2619,
	THREAD_PRIORITY = 2620,
	THREAD_MAX_PRIORITY = 2621,
	THREAD_POLICY = 2624,
	PROCESSOR_SET_POLICY_ENABLE = 2625,
	HOST_PROCESSOR_SET_PRIV = 2630,
	HOST_GET_TIME = 2634,
	HOST_REBOOT = 2635,
};

/* Calls the kernel: `kinds` says what each argument is: i integer, b boolean, p port, a array of integers (pointer, count).
 * The first words of the answer go to `answer`. Ends the program where the kernel refuses. */
void call(enum kernel_routine routine, const char *name, mach_port_t port, unsigned *answer, unsigned words, const char *kinds, ...);
#define CALL(routine, port, answer, words, ...) call(routine, #routine, port, answer, words, __VA_ARGS__)

#endif
