console.log('before');
Array.prototype[Symbol.iterator] = function* () { yield 'A' };
console.log('after', 1);
display({ 'text/html': '<b>' });
process.stdout.write('w\n', () => console.log('done'));
throw new TypeError('bad')
