//go:build real && (amd64 || arm64)

package sandbox_test

import (
	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// ofFiles are programs that use more of a disk than they may.
var ofFiles = []glutton{
	{name: "size of a file", code: `
f = open('big', 'wb', 0)
try:
    for i in range(200): f.write(b'x' * (1 << 20))
    print('NEVER')
except OSError as e: print(e)
try: os.truncate('big', 1 << 50); print('NEVER')
except OSError as e: print(e)`, limits: sandbox.Limits{FileSize: 16 * mib}, says: "File too large", never: "NEVER"},
	{name: "sizes of many files", code: `
for i in range(60):
    with open('big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes of files that are only reserved", not: sandbox.None, code: `
import fcntl
f = open('small', 'wb', 0)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
for mode in 0, 1, 0x10, 0x11, 0x40, 0x80:
    if libc.fallocate(f.fileno(), mode, 0, 8 << 20) == 0: print('NEVER', mode)
for request in 0x40305828, 0x4030582a, 0x40305839: # FS_IOC_RESVSP, RESVSP64, ZERO_RANGE
    try: fcntl.ioctl(f, request, struct.pack('hhqqiI4i', 0, 0, 0, 8 << 20, 0, 0, 0, 0, 0, 0)); print('NEVER', request)
    except OSError: pass
os.posix_fallocate(f.fileno(), 0, 8 << 20)
st = os.stat('small')
print('writes instead', st.st_size == 8 << 20, st.st_blocks * 512 >= 8 << 20)
print('gives back', libc.fallocate(f.fileno(), 3, 0, 8 << 20), os.stat('small').st_blocks * 512 < 8 << 20, flush=True)
for i in range(20): os.posix_fallocate(os.open('f%d' % i, os.O_CREAT | os.O_WRONLY), 0, 64 << 20)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, says: "writes instead True True\ngives back 0 True\n", never: "NEVER"},
	{name: "sizes in a directory that cannot be listed", code: `
os.mkdir('d', 0o300); os.mkdir('d/e', 0o300)
for i in range(60):
    with open('d/e/big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "sizes beside a deep tree", code: `
for i in range(2100): os.mkdir('d'); os.chdir('d') # deeper than a path is long
os.chdir(os.environ['HOME'])
for i in range(60):
    with open('big%d' % i, 'wb', 0) as f:
        for j in range(10): f.write(b'x' * (1 << 20)); time.sleep(0.002)
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Disk: 64 * mib}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files in a directory that cannot be listed", code: `
os.mkdir('d', 0o300)
for i in range(6000): os.close(os.open('d/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files", code: `
os.mkdir('d')
for i in range(6000): os.close(os.open('d/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, cause: codeinterp.CauseDisk, never: "NEVER"},
	{name: "number of files in /tmp", code: `
if not os.path.isdir('/tmp') or not os.access('/workspace', os.W_OK): print('other mode'); sys.exit()
for i in range(500000): os.close(os.open('/tmp/%d' % i, os.O_CREAT))
time.sleep(100)
print('NEVER')`, limits: sandbox.Limits{Inodes: 2000}, never: "NEVER"}, // else they fill the kernel's memory
	{name: "bytes in /tmp", code: `
try:
    for n in '/dev/shm/a', '/tmp/a', '/dev/shm/b', '/tmp/b':
        with open(n, 'wb', 0) as f:
            for i in range(100): f.write(b'x' * (1 << 20))
    print('NEVER')
except OSError as e: print(e)
for n in '/dev/shm/a', '/tmp/a', '/dev/shm/b', '/tmp/b':
    try: os.remove(n)
    except OSError: pass`, limits: sandbox.Limits{Memory: 256 * mib}, never: "NEVER", not: sandbox.None},
}
