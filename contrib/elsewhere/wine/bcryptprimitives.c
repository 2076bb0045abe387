/* The one function of bcryptprimitives.dll that Rust's library asks for. Wine 8.0 has no such library. It is linked without mingw's
 * start-up code (-nostdlib): once a thread ended in it by a page fault. */

#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
    return count <= 0xffffffff && SystemFunction036(bytes, (ULONG)count);
}

BOOL WINAPI DllMainCRTStartup(HINSTANCE library, DWORD reason, LPVOID reserved)
{
    return TRUE;
}
