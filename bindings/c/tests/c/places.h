/* Checks pointers to results. treefold.h requires that they are aligned and not NULL, and that results do not overlap anything else that a
   call reads or writes. A table has a row for each result of each function; xtask/lab/documents/tests/headers.rs finds missing rows. */
#ifndef PLACES_H
#define PLACES_H

#include "check.h"

enum { ROOM_BYTES = 64 };

/* The arrays that calls read: `items`, and `others` as the second array. Calls that must succeed write to `results`. */
static _Alignas(16) unsigned char items[ROOM_BYTES], others[ROOM_BYTES], results[2 * ROOM_BYTES];

/* A row of the table: a function and one of its results. */
struct place {
    const char *function, *result;
    /* Calls the function with this pointer to the result. All other arguments are valid. */
    treefold_status (*call)(void *place);
    /* The required alignment of the result. */
    size_t alignment;
    /* The arrays that the result must not overlap, and their names. The list ends with NULL if it has fewer than four arrays. */
    struct {
        void *begin;
        const char *name;
    } apart[4];
};

/* Expand a row of RESULTS to a function that makes the call, and to a row of the table. */
#define CALL_OF(function, result, call, ...)                                                                                           \
    static treefold_status function##_##result(void *result) { return call; }
#define PLACE_OF(function, result, call, ...) {#function, #result, function##_##result, __VA_ARGS__},

static void expect(const struct place *place, const char *what, void *result, treefold_status code, const char *words)
{
    unsigned char before[2][ROOM_BYTES];
    memcpy(before[0], items, ROOM_BYTES);
    memcpy(before[1], others, ROOM_BYTES);
    treefold_status status = place->call(result);
    if (status != code || (code != TREEFOLD_OK && strstr(treefold_last_error(), words) == NULL)) {
        fprintf(stderr, "%s, `%s` %s: %s (%s), expected %s (%s)\n", place->function, place->result, what, treefold_status_name(status),
                treefold_last_error(), treefold_status_name(code), words);
        failures++;
    }
    if (memcmp(before[0], items, ROOM_BYTES) != 0 || memcmp(before[1], others, ROOM_BYTES) != 0) {
        fprintf(stderr, "%s, `%s` %s: items were written to\n", place->function, place->result, what);
        failures++;
    }
}

/* Checks a row. `may_be_null` says whether NULL is allowed, because the caller may not need the result. */
static void check_place(const struct place *place, int may_be_null)
{
    char words[80];
    snprintf(words, sizeof words, "`%s` is NULL", place->result);
    expect(place, "NULL", NULL, may_be_null ? TREEFOLD_OK : TREEFOLD_NULL, words);
    if (place->alignment > 1) {
        snprintf(words, sizeof words, "`%s`: its address is not a multiple of %zu", place->result, place->alignment);
        expect(place, "not aligned", results + 1, TREEFOLD_ARGUMENT, words);
        expect(place, "not aligned", results + place->alignment / 2, TREEFOLD_ARGUMENT, words);
    }
    for (size_t i = 0; i < 4 && place->apart[i].begin != NULL; i++) {
        expect(place, "at the start of an array that it must not overlap", place->apart[i].begin, TREEFOLD_ARGUMENT, "overlap");
        CHECK(strstr(treefold_last_error(), place->apart[i].name) != NULL);
        CHECK(strstr(treefold_last_error(), place->result) != NULL);
    }
    expect(place, "right", results, TREEFOLD_OK, "");
}

#endif
