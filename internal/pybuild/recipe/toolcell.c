/* The part of the module that is Toolcell's: it starts CPython, and carries requests from
 * Python to the host and answers back. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include "internal/pycore_pystate.h"
#include "internal/pycore_runtime.h"
#include <signal.h>
#include <string.h>

#define IMPORT(name) __attribute__((import_module("toolcell"), import_name(name)))
#define EXPORT(name) __attribute__((export_name(name)))

/* request gives the host a request and returns the size of the answer, -1 for none.
 * answer copies that to memory. yield lets the host look whether to stop the program. */
IMPORT("request") int host_request(const char *data, int size);
IMPORT("answer") void host_answer(char *memory);
IMPORT("yield") void host_yield(void);

static PyObject *server;

static PyObject *request(PyObject *module, PyObject *bytes) {
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0) return NULL;
  int n = host_request(data, (int)size);
  if (n < 0) Py_RETURN_NONE;
  PyObject *answer = PyBytes_FromStringAndSize(NULL, n);
  if (answer) host_answer(PyBytes_AS_STRING(answer));
  return answer;
}

static PyObject *serve(PyObject *module, PyObject *function) {
  Py_XSETREF(server, Py_NewRef(function));
  Py_RETURN_NONE;
}

/* Objects that immortalize has yet to look into. */
static PyObject **found;
static size_t found_count, found_room;

static int find(PyObject *object, void *unused) {
  if (!object || _Py_IsImmortal(object)) return 0;
  if (found_count == found_room) {
    size_t room = found_room ? 2 * found_room : 1024;
    PyObject **larger = realloc(found, room * sizeof *found);
    if (!larger) return -1;
    found = larger;
    found_room = room;
  }
  object->ob_refcnt = _Py_IMMORTAL_REFCNT;
  found[found_count++] = object;
  return 0;
}

static int find_in_code(PyCodeObject *code) {
  PyObject *parts[] = {code->co_consts, code->co_names, code->co_exceptiontable, code->co_localsplusnames,
                       code->co_localspluskinds, code->co_filename, code->co_name, code->co_qualname, code->co_linetable};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (find(parts[i], NULL)) return -1;
  return 0;
}

/* immortalize makes the objects of a list immortal, with all that they lead to: who counts no
 * references to them writes nothing to their pages, so that copies of the memory share
 * these. */
static PyObject *immortalize(PyObject *module, PyObject *list) {
  int failed = 0;
  for (Py_ssize_t i = 0; i < PyList_Size(list) && !failed; i++) failed = find(PyList_GetItem(list, i), NULL);
  while (found_count && !failed) {
    PyObject *object = found[--found_count];
    if (PyCode_Check(object))
      failed = find_in_code((PyCodeObject *)object);
    else if (PyObject_IS_GC(object) && Py_TYPE(object)->tp_traverse)
      failed = Py_TYPE(object)->tp_traverse(object, find, NULL);
  }
  free(found);
  found = NULL;
  found_count = found_room = 0;
  if (failed) return PyErr_NoMemory();
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"request", request, METH_O, NULL},
    {"immortalize", immortalize, METH_O, NULL},
    {"serve", serve, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_toolcell", NULL, -1, functions};

static PyObject *create(void) { return PyModule_Create(&definition); }

static int failed(const char *what) {
  host_request(what, (int)strlen(what));
  return 1;
}

static int initialize(void) {
  PyPreConfig early;
  PyPreConfig_InitIsolatedConfig(&early);
  early.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&early);
  if (PyStatus_Exception(status)) return failed("!the interpreter does not start");
  PyConfig c;
  PyConfig_InitIsolatedConfig(&c);
  c.site_import = 0;
  c.install_signal_handlers = 1;
  c.write_bytecode = 0;
  c.pathconfig_warnings = 0;
  c.module_search_paths_set = 1;
  PyWideStringList_Append(&c.module_search_paths, L"/usr/lib/python");
  PyConfig_SetString(&c, &c.program_name, L"python3");
  PyConfig_SetString(&c, &c.executable, L"");
  PyConfig_SetString(&c, &c.home, L"/usr");
  PyConfig_SetString(&c, &c.stdlib_dir, L"/usr/lib/python");
  status = Py_InitializeFromConfig(&c);
  PyConfig_Clear(&c);
  if (PyStatus_Exception(status)) return failed(status.err_msg ? status.err_msg : "!the interpreter does not start");
  return 0;
}

/* start starts the interpreter, which then runs the program that the host answers to the
 * request "boot". */
EXPORT("start") int start(void) {
  PyImport_AppendInittab("_toolcell", create);
  if (initialize()) return 1;
  int n = host_request("boot", 4);
  char *source = malloc(n + 1);
  if (n < 0 || !source) return 2;
  host_answer(source);
  source[n] = 0;
  PyObject *space = PyDict_New();
  PyObject *name = PyUnicode_FromString("toolcell");
  if (!space || !name || PyDict_SetItemString(space, "__builtins__", PyEval_GetBuiltins()) ||
      PyDict_SetItemString(space, "__name__", name))
    return 2;
  PyObject *code = Py_CompileString(source, "<toolcell>", Py_file_input);
  free(source);
  PyObject *result = code ? PyEval_EvalCode(code, space, space) : NULL;
  if (!result) {
    PyErr_Print();
    return 3;
  }
  Py_DECREF(result);
  Py_DECREF(code);
  return server ? 0 : 4;
}

/* turn calls the function that serve was given. */
EXPORT("turn") int turn(void) {
  host_yield();
  PyObject *result = PyObject_CallNoArgs(server);
  if (!result) {
    PyErr_Print();
    return 1;
  }
  Py_DECREF(result);
  return 0;
}

/* word returns the address of a word, of those that PyErr_SetInterrupt writes. */
EXPORT("word") void *word(int i) {
  switch (i) {
  case 0:
    return (void *)&_PyRuntime.signals.handlers[SIGINT].tripped;
  case 1:
    return (void *)&_PyRuntime.signals.is_tripped;
  case 2:
    return (void *)&_PyThreadState_GET()->eval_breaker;
  }
  __builtin_trap();
}
