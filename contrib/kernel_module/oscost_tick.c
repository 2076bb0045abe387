// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Document 002's server inside the kernel: a high-resolution timer stamps each tick in a page that its clients have mapped
 * and wakes all who wait. Every open file of /dev/oscost_tick is a session of its own, which its clients inherit; it ends
 * with the last of them.
 *
 * Whoever waits is put at the head of the wait queue, as the kernel itself does, or at its tail: parameter `tail`.
 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "oscost_tick.h"

#define MOST_TICKS 100000ULL
#define MOST_SESSIONS 16
#define LEAST_PERIOD 50000ULL /* ns */
#define MOST_PERIOD 1000000000ULL
#define MOST_AHEAD 10000000000ULL /* ns until the first tick */

static bool tail;
module_param(tail, bool, 0644);
MODULE_PARM_DESC(tail, "put who waits at the tail of the queue; default: at its head, as the kernel does");

static ushort mode = 0600;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/oscost_tick; default: root alone");

static atomic_t sessions = ATOMIC_INIT(0);

struct entry {
	u64 one;
	u64 other;
};

struct session {
	struct mutex lock; /* of plan and start */
	struct hrtimer timer;
	wait_queue_head_t queue;
	struct entry *page;
	bool started;
	bool tail;
	u64 ticks;
	u64 period;
	u64 due;
	u64 number; /* of the next tick in the schedule */
};

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct session *session = container_of(timer, struct session, timer);
	struct entry *page = session->page;
	u64 now = ktime_get_ns();
	u64 sent = page[0].one;
	bool done;

	page[OSCOST_TICK_ENTRIES + sent].one = session->due;
	page[OSCOST_TICK_ENTRIES + sent].other = now;
	session->number++;
	session->due += session->period;
	if (now >= session->due) {
		/* A tick whose time has passed is left out and counted, never made up for in a burst. */
		u64 late = div64_u64(now - session->due, session->period) + 1;

		session->due += late * session->period;
		session->number += late;
		WRITE_ONCE(page[1].one, page[1].one + late);
	}
	sent++;
	/* No timer without an end: one that is always late gives up. */
	done = sent >= session->ticks || session->number >= 4 * session->ticks + 100;
	/* Whoever sees the number sees the tick, and whoever sees the end sees its number. */
	smp_store_release(&page[0].one, sent);
	if (done)
		smp_store_release(&page[0].other, 1);
	wake_up_all(&session->queue);
	if (done)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(session->due));
	return HRTIMER_RESTART;
}

static bool is_over(struct session *session, u64 seen)
{
	return smp_load_acquire(&session->page[0].other) || smp_load_acquire(&session->page[0].one) > seen;
}

static int wait_beyond(struct session *session, u64 seen)
{
	DEFINE_WAIT(wait);
	int error = 0;

	for (;;) {
		unsigned long flags;

		spin_lock_irqsave(&session->queue.lock, flags);
		if (list_empty(&wait.entry)) {
			if (session->tail)
				__add_wait_queue_entry_tail(&session->queue, &wait);
			else
				__add_wait_queue(&session->queue, &wait);
		}
		set_current_state(TASK_INTERRUPTIBLE);
		spin_unlock_irqrestore(&session->queue.lock, flags);
		if (is_over(session, seen))
			break;
		if (signal_pending(current)) {
			error = -ERESTARTSYS;
			break;
		}
		schedule();
	}
	finish_wait(&session->queue, &wait);
	return error;
}

static ssize_t tick_read(struct file *file, char __user *buffer, size_t length, loff_t *offset)
{
	struct session *session = file->private_data;
	u64 sent;
	int error;

	if (length < sizeof(sent) || *offset < 0)
		return -EINVAL;
	if (!smp_load_acquire(&session->page))
		return -ENODATA;
	error = wait_beyond(session, *offset);
	if (error)
		return error;
	sent = smp_load_acquire(&session->page[0].one);
	return copy_to_user(buffer, &sent, sizeof(sent)) ? -EFAULT : sizeof(sent);
}

static long plan(struct session *session, const struct oscost_tick_plan *wanted)
{
	struct entry *page;

	if (session->page)
		return -EBUSY;
	if (wanted->ticks < 1 || wanted->ticks > MOST_TICKS)
		return -EINVAL;
	page = vmalloc_user((OSCOST_TICK_ENTRIES + wanted->ticks) * sizeof(*page));
	if (!page)
		return -ENOMEM;
	page[2].other = wanted->ticks;
	session->ticks = wanted->ticks;
	session->tail = READ_ONCE(tail);
	smp_store_release(&session->page, page);
	return 0;
}

static long start(struct session *session, const struct oscost_tick_start *wanted)
{
	u64 now = ktime_get_ns();

	if (!session->page)
		return -ENODATA;
	if (session->started)
		return -EBUSY;
	if (wanted->period < LEAST_PERIOD || wanted->period > MOST_PERIOD)
		return -ERANGE;
	/* Not so long ago that the numbers run over, and not so far ahead that it looks like a hang. */
	if (wanted->start > now + MOST_AHEAD || wanted->start + MOST_AHEAD < now)
		return -ERANGE;
	session->period = wanted->period;
	session->due = wanted->start;
	session->page[1].other = wanted->start;
	session->page[2].one = wanted->period;
	session->started = true;
	hrtimer_start(&session->timer, ns_to_ktime(session->due), HRTIMER_MODE_ABS_PINNED);
	return 0;
}

static long tick_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct session *session = file->private_data;
	union {
		struct oscost_tick_plan plan;
		struct oscost_tick_start start;
	} wanted;
	long result;

	if (command != OSCOST_TICK_PLAN && command != OSCOST_TICK_START)
		return -ENOTTY;
	if (copy_from_user(&wanted, (void __user *)argument, _IOC_SIZE(command)))
		return -EFAULT;
	if (mutex_lock_interruptible(&session->lock))
		return -ERESTARTSYS;
	result = command == OSCOST_TICK_PLAN ? plan(session, &wanted.plan) : start(session, &wanted.start);
	mutex_unlock(&session->lock);
	return result;
}

static int tick_mmap(struct file *file, struct vm_area_struct *area)
{
	struct session *session = file->private_data;

	if (!smp_load_acquire(&session->page))
		return -ENODATA;
	if (area->vm_flags & VM_WRITE)
		return -EACCES;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(area, VM_MAYWRITE);
#else
	area->vm_flags &= ~VM_MAYWRITE;
#endif
	/* Refuses what is larger than the page; the mapping holds the file, and so the session. */
	return remap_vmalloc_range(area, session->page, area->vm_pgoff);
}

static int tick_open(struct inode *inode, struct file *file)
{
	struct session *session;

	if (atomic_inc_return(&sessions) > MOST_SESSIONS) {
		atomic_dec(&sessions);
		return -EBUSY;
	}
	session = kzalloc(sizeof(*session), GFP_KERNEL);
	if (!session) {
		atomic_dec(&sessions);
		return -ENOMEM;
	}
	mutex_init(&session->lock);
	init_waitqueue_head(&session->queue);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&session->timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
#else
	hrtimer_init(&session->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	session->timer.function = tick;
#endif
	file->private_data = session;
	return 0;
}

/* When nobody has the file open or its page mapped any more, however they ended. */
static int tick_release(struct inode *inode, struct file *file)
{
	struct session *session = file->private_data;

	hrtimer_cancel(&session->timer);
	vfree(session->page);
	kfree(session);
	atomic_dec(&sessions);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE, /* no unloading under an open file */
	.open = tick_open,
	.release = tick_release,
	.read = tick_read,
	.mmap = tick_mmap,
	.unlocked_ioctl = tick_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "oscost_tick",
	.fops = &operations,
};

static int __init tick_init(void)
{
	if (mode & ~0666)
		return -EINVAL;
	device.mode = mode;
	return misc_register(&device);
}

static void __exit tick_exit(void)
{
	misc_deregister(&device);
}

module_init(tick_init);
module_exit(tick_exit);

MODULE_DESCRIPTION("oscost: a server of ticks inside the kernel");
MODULE_AUTHOR("The oscost authors");
MODULE_LICENSE("Dual MIT/GPL");
