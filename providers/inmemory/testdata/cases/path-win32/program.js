const { win32 } = require('path');
const paths = ['C:\\a\\..\\b.txt', 'c:/x/y/', 'C:', 'C:\\', 'a\\b/../c', '\\\\srv\\share\\d\\e.tar.gz', '..\\..\\x', '', '\\a\\', 'C:a'];
for (const p of paths) console.log([win32.normalize(p), win32.basename(p), win32.dirname(p), win32.extname(p), win32.isAbsolute(p)], win32.format(win32.parse(p)));
console.log(win32.join('C:\\a', '..', 'b', 'c.txt'), win32.join('a', '/b'), win32.basename('C:\\a\\b.txt', '.txt'), win32.sep, win32.delimiter);
console.log(win32.resolve('C:\\a', 'b', '..\\c'), win32.resolve('C:\\a', '\\b'), win32.resolve('C:\\a', 'D:\\b'), win32.resolve('C:\\a', 'C:b'));
console.log([win32.relative('C:\\A\\b', 'c:\\a\\C\\d'), win32.relative('C:\\a', 'D:\\b'), win32.relative('C:\\a\\b', 'C:\\a\\b')]);
console.log(require('path/win32') === win32, require('path').posix.win32 === win32, require('path').format({ dir: '/a', base: 'b' }));
