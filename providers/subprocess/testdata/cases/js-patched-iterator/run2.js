process.stdout.end('next\n', 'utf8', () => console.log('ended'));
[1, 2]
