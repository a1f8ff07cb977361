/*
 * Faults from below, for tests: loaded before the C library, it lets calls fail that reach a file.
 *
 *   FAULT_FILE   only files whose path contains this text
 *   FAULT_CALLS  which calls are counted, a list such as "open,write": open, write, sync, datasync, truncate, lock, map, rename,
 *                remove; or "memory" alone, for allocations
 *   FAULT_AT     the number of the first call that fails, from 1; without it none does
 *   FAULT_TIMES  how many calls fail from there on; 0 for all of them
 *   FAULT_ERROR  the error number; 0 lets writes end half way, which is no error, until not a byte more fits
 *   FAULT_DELAY  microseconds by which each write is delayed: a slow disk
 *   FAULT_LOG    a file that gets a line for each call counted: milliseconds, "ok" or "failed", call, path
 *   FAULT_THREAD memory: only in threads of this name
 *
 * Where a call is not to be counted or not to fail, it does what it always did.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *file, *calls, *thread;
static long at, times, error, delay;
static int log_to = -1;
static atomic_long counted;
static int ready;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static void say(const char *call, const char *path, int fails)
{
    char line[700];
    struct timespec now;
    if (log_to < 0)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int length = snprintf(line, sizeof line, "%ld %s %s %s\n", now.tv_sec * 1000 + now.tv_nsec / 1000000,
                          fails ? "failed" : "ok", call, path);
    if (length > (int)sizeof line)
        length = sizeof line;
    syscall(SYS_write, log_to, line, length);
}

__attribute__((constructor)) static void start(void)
{
    file = getenv("FAULT_FILE");
    calls = getenv("FAULT_CALLS");
    thread = getenv("FAULT_THREAD");
    at = number("FAULT_AT");
    times = number("FAULT_TIMES");
    error = number("FAULT_ERROR");
    delay = number("FAULT_DELAY");
    if (getenv("FAULT_LOG"))
        log_to = syscall(SYS_openat, AT_FDCWD, getenv("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    ready = calls != NULL;
}

static int counts_as(const char *call)
{
    size_t length = strlen(call);
    for (const char *found = ready ? calls : NULL; found && (found = strstr(found, call)); found += length)
        if ((found == calls || found[-1] == ',') && (found[length] == 0 || found[length] == ','))
            return 1;
    return 0;
}

/* Counts a call; whether this one fails. */
static int is_struck(void)
{
    long count = atomic_fetch_add(&counted, 1) + 1;
    return at > 0 && count >= at && (times == 0 || count < at + times);
}

/* Counts a call that concerns a path; whether it fails, and with it the error number. */
static int strikes(const char *call, const char *path)
{
    if (!counts_as(call) || !path || (file && !strstr(path, file)))
        return 0;
    int fails = is_struck();
    say(call, path, fails);
    if (fails)
        errno = error;
    return fails;
}

/* The path of an open file. */
static const char *path_of(int descriptor, char *path, size_t size)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, size - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return path;
}

static int strikes_file(const char *call, int descriptor)
{
    char path[600];
    if (!counts_as(call))
        return 0;
    int before = errno;
    const char *known = path_of(descriptor, path, sizeof path);
    errno = before;
    return strikes(call, known);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static mode_t mode_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                            \
    int name(const char *path, int flags, ...)                \
    {                                                         \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode_t mode = mode_of(flags, rest);                   \
        va_end(rest);                                         \
        if (strikes("open", path))                            \
            return -1;                                        \
        return REAL(name)(path, flags, mode);                 \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                          \
    int name(int folder, const char *path, int flags, ...)    \
    {                                                         \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode_t mode = mode_of(flags, rest);                   \
        va_end(rest);                                         \
        if (strikes("open", path))                            \
            return -1;                                        \
        return REAL(name)(folder, path, flags, mode);         \
    }
OPENAT(openat)
OPENAT(openat64)

/* How many bytes are to be written: all, some, or none. */
static ssize_t admitted(int descriptor, size_t size)
{
    char path[600];
    if (delay && counts_as("write")) {
        const char *known = path_of(descriptor, path, sizeof path);
        if (known && (!file || strstr(known, file)))
            usleep(delay);
    }
    if (!strikes_file("write", descriptor))
        return size;
    if (error != 0)
        return -1;
    errno = ENOSPC;
    return size > 1 ? (ssize_t)(size / 2) : -1;
}

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    ssize_t some = admitted(descriptor, size);
    return some < 0 ? -1 : REAL(write)(descriptor, bytes, some);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t place)
{
    ssize_t some = admitted(descriptor, size);
    return some < 0 ? -1 : REAL(pwrite)(descriptor, bytes, some, place);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t place)
{
    ssize_t some = admitted(descriptor, size);
    return some < 0 ? -1 : REAL(pwrite64)(descriptor, bytes, some, place);
}

int fsync(int descriptor)
{
    return strikes_file("sync", descriptor) ? -1 : REAL(fsync)(descriptor);
}

int fdatasync(int descriptor)
{
    return strikes_file("datasync", descriptor) ? -1 : REAL(fdatasync)(descriptor);
}

int ftruncate(int descriptor, off_t size)
{
    return strikes_file("truncate", descriptor) ? -1 : REAL(ftruncate)(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size)
{
    return strikes_file("truncate", descriptor) ? -1 : REAL(ftruncate64)(descriptor, size);
}

static int is_lock(int command)
{
    return command == F_SETLK || command == F_SETLKW;
}

#define FCNTL(name)                                                           \
    int name(int descriptor, int command, ...)                                \
    {                                                                         \
        va_list rest;                                                         \
        va_start(rest, command);                                              \
        void *argument = va_arg(rest, void *);                                \
        va_end(rest);                                                         \
        if (is_lock(command) && strikes_file("lock", descriptor))             \
            return -1;                                                        \
        return REAL(name)(descriptor, command, argument);                     \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

#define MMAP(name, offset)                                                                          \
    void *name(void *address, size_t size, int protection, int flags, int descriptor, offset place) \
    {                                                                                               \
        if (descriptor >= 0 && strikes_file("map", descriptor))                                     \
            return MAP_FAILED;                                                                      \
        return REAL(name)(address, size, protection, flags, descriptor, place);                     \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int rename(const char *from, const char *to)
{
    return strikes("rename", to) ? -1 : REAL(rename)(from, to);
}

int unlink(const char *path)
{
    return strikes("remove", path) ? -1 : REAL(unlink)(path);
}

/* Memory: the C library's own functions are called by their inner names, as looking them up takes memory. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int is_refused(void)
{
    char name[17] = "";
    if (!counts_as("memory"))
        return 0;
    prctl(PR_GET_NAME, name);
    if (thread && strcmp(name, thread) != 0)
        return 0;
    int fails = is_struck();
    if (fails) {
        say("memory", name, 1);
        errno = ENOMEM;
    }
    return fails;
}

void *malloc(size_t size)
{
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return is_refused() ? NULL : __libc_realloc(old, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (is_refused())
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* How many allocations there were: too many for a line each. */
__attribute__((destructor)) static void end(void)
{
    char total[30];
    if (!counts_as("memory"))
        return;
    snprintf(total, sizeof total, "%ld", atomic_load(&counted));
    say("total", total, 0);
}
