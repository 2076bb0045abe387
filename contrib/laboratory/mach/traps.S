/* Where a module of GNU Mach begins, and the traps of its kernel. */
#include <mach/syscall_sw.h>

/* The kernel's table has nothing at this place. */
kernel_trap(no_trap, -31, 0)

ENTRY(_start)
	/* The kernel left the number of arguments there, and the arguments behind it. */
	leal 4(%esp), %eax
	xorl %ebp, %ebp
	andl $-16, %esp
	subl $12, %esp
	pushl %eax
	call begin
END(_start)

.section .note.GNU-stack, "", @progbits
