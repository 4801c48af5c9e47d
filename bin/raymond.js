#!/usr/bin/env node
// Caches compiled code where Node supports it (22 and newer), because every command pays for
// start-up.
require('node:module').enableCompileCache?.();

require('../dist/cli.cjs').main(process.argv.slice(2));
