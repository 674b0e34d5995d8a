/* A mock of CUDA's driver: the program says which memory belongs to a device. */
#include <stddef.h>
#include <stdint.h>

static uintptr_t begin, end;

void set_device_memory(const void *memory, size_t bytes)
{
    begin = (uintptr_t)memory;
    end = begin + bytes;
}

int cuPointerGetAttribute(void *data, int attribute, uintptr_t pointer)
{
    int is_device = begin <= pointer && pointer < end;
    if (!is_device)
        return 1;
    *(unsigned *)data = attribute == 2 ? 2 : 0;
    return 0;
}
