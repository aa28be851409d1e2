/* The list of built-in modules, which configure makes elsewhere. */
#include "Python.h"

#define PyInit__warnings _PyWarnings_Init
#define PyInit_marshal PyMarshal_Init

#define FIRST(M) \
  M(_abc) M(_ast) M(_asyncio) M(_bisect) M(_blake2) M(_codecs) M(_codecs_cn) M(_codecs_hk) \
  M(_codecs_iso2022) M(_codecs_jp) M(_codecs_kr) M(_codecs_tw) M(_collections) M(_contextvars) \
  M(_csv) M(_datetime) M(_decimal) M(_elementtree) M(_functools) M(_heapq) M(_imp) M(_io) M(_json) \
  M(_locale) M(_lsprof) M(_md5) M(_multibytecodec) M(_opcode) M(_operator) M(_pickle) M(_queue) \
  M(_random) M(_sha1) M(_sha2) M(_sha3) M(_signal) M(_socket) M(_sqlite3) M(_sre) M(_stat) \
  M(_statistics) M(_string) M(_struct) M(_suggestions) M(_symtable) M(_sysconfig) M(_thread) \
  M(_tokenize) M(_tracemalloc) M(_typing) M(_warnings) M(_weakref) M(_zoneinfo) M(array) M(atexit) \
  M(binascii)

#define SECOND(M) \
  M(cmath) M(errno) M(faulthandler) M(gc) M(itertools) M(marshal) M(math) M(posix) M(pyexpat) \
  M(select)

#define THIRD(M) \
  M(time) M(unicodedata) M(zlib)

#define DECLARED(name) extern PyObject *PyInit_##name(void);
FIRST(DECLARED)
SECOND(DECLARED)
THIRD(DECLARED)

#define LISTED(name) {#name, PyInit_##name},
struct _inittab _PyImport_Inittab[] = {
  FIRST(LISTED)
  {"builtins", NULL},
  SECOND(LISTED)
  {"sys", NULL},
  THIRD(LISTED)
  {0, 0}
};
