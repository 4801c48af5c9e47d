#!/usr/bin/env node
const { keepCompiled, usualFolder } = require('./keep-compiled.js');

// Every command pays for start-up, and most of that is compilation.
keepCompiled(usualFolder());

require('../dist/cli.cjs').main(process.argv.slice(2));
