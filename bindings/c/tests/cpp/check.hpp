// What tests in C++ say of a condition that does not hold, and how many there were.

#pragma once

#include <cstdio>
#include <cstring>

#include <treefold.hpp>

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)

inline int failures = 0;

inline void check(bool is_true, const char *condition, const char *file, int line)
{
    if (is_true)
        return;
    std::printf("%s:%d: not so: %s\n", file, line, condition);
    ++failures;
}

// The code of what a call throws, whose text has these words.
template <class Call> treefold::code thrown(const char *words, const Call &call)
{
    try {
        call();
        return treefold::code::ok;
    } catch (const treefold::error &error) {
        CHECK(std::strstr(error.what(), words) != nullptr);
        return error.code();
    }
}
