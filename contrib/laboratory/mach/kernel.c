/* Messages to GNU Mach's kernel, as mig would write them. */
#include "kernel.h"
#include "session.h"

#include <stdarg.h>

struct letter {
	mach_msg_header_t head;
	unsigned body[160];
};

static unsigned descriptor(unsigned name, unsigned number)
{
	union {
		mach_msg_type_t type;
		unsigned word;
	} as = { .type = { .msgt_name = name, .msgt_size = 32, .msgt_number = number, .msgt_inline = 1 } };

	return as.word;
}

void call(enum kernel_routine routine, const char *name, mach_port_t port, unsigned *answer, unsigned words, const char *kinds, ...)
{
	static mach_port_t reply;
	struct letter letter;
	unsigned *at = letter.body;
	unsigned bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE);
	va_list arguments;

	if (!reply)
		reply = mach_reply_port();
	va_start(arguments, kinds);
	for (; *kinds; kinds++) {
		const unsigned *array;

		switch (*kinds) {
		case 'p':
			bits |= MACH_MSGH_BITS_COMPLEX;
			*at++ = descriptor(MACH_MSG_TYPE_COPY_SEND, 1);
			*at++ = va_arg(arguments, unsigned);
			break;
		case 'a':
			array = va_arg(arguments, const unsigned *);
			unsigned count = va_arg(arguments, unsigned);

			*at++ = descriptor(MACH_MSG_TYPE_INTEGER_32, count);
			while (count--)
				*at++ = *array++;
			break;
		default:
			*at++ = descriptor(*kinds == 'b' ? MACH_MSG_TYPE_BOOLEAN : MACH_MSG_TYPE_INTEGER_32, 1);
			*at++ = va_arg(arguments, unsigned);
		}
	}
	va_end(arguments);
	letter.head = (mach_msg_header_t){ .msgh_bits = bits, .msgh_remote_port = port, .msgh_local_port = reply, .msgh_id = routine };
	int code = mach_msg_trap(&letter.head, MACH_SEND_MSG | MACH_RCV_MSG, (char *)at - (char *)&letter, sizeof letter, reply, 0, MACH_PORT_NULL);

	if (code)
		fail(name, code);
	/* An answer begins with a descriptor and the code of the routine. */
	if (letter.head.msgh_id != (int)routine + 100 || letter.body[1])
		fail(name, letter.body[1]);
	for (unsigned word = 0; word < words; word++)
		answer[word] = letter.body[3 + word];
}
