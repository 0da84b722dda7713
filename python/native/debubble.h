#ifndef DEBUBBLE_H
#define DEBUBBLE_H

/* debubble in the process of its caller: a verb and a JSON text go in, a JSON text and columns of
   numbers come out. Any number of threads may call at once; nothing is shared between calls but
   files that were read. python/debubble is written over it. */

#ifdef __cplusplus
extern "C" {
#endif

#define DEBUBBLE_API __attribute__((visibility("default")))

typedef struct debubble_answer debubble_answer;

enum debubble_status {
    DEBUBBLE_DONE = 0,
    DEBUBBLE_INPUT = 2,   /* the request is wrong: the JSON lists the mistakes with their places */
    DEBUBBLE_WORLD = 3,   /* the world failed: a file cannot be written */
    DEBUBBLE_STOPPED = 4, /* the caller stopped it */
    DEBUBBLE_BUG = 5      /* of debubble: the JSON says what happened */
};

/* Told of the points of a grid that are done; returns 0 to go on. Called from any thread, one call
   at a time. */
typedef int (*debubble_progress)(void* user, unsigned long long done, unsigned long long total);

/* Never null. `request` is UTF-8. What verbs take and give: python/native/verbs.h. */
DEBUBBLE_API debubble_answer* debubble_call(const char* verb, const char* request,
                                            debubble_progress progress, void* user);
DEBUBBLE_API int debubble_status_of(const debubble_answer* answer);
/* UTF-8, valid until the answer is freed. */
DEBUBBLE_API const char* debubble_json(const debubble_answer* answer);
/* `count` int64 numbers of a column of the answer, valid until it is freed; null if it has no such
   column. */
DEBUBBLE_API const long long* debubble_column(const debubble_answer* answer, const char* name,
                                              unsigned long long* count);
DEBUBBLE_API void debubble_free(debubble_answer* answer);

DEBUBBLE_API const char* debubble_version(void);

#ifdef __cplusplus
}
#endif

#endif
