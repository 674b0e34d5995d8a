// What tests in C++ say of a condition that does not hold, and how many there were.

#pragma once

#include <cstdio>

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

inline int failures = 0;

inline void check(bool is_true, const char *condition, const char *file, int line)
{
    if (is_true)
        return;
    std::printf("%s:%d: not so: %s\n", file, line, condition);
    ++failures;
}
