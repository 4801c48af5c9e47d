#!/usr/bin/env node
import module from 'node:module';

// Caches compiled code where Node supports it (22 and newer), because every command pays for
// start-up.
module.enableCompileCache?.();

const { main } = await import('../dist/cli.js');
await main(process.argv.slice(2));
