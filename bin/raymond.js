#!/usr/bin/env node
import module from 'node:module';

// Compiled code is cached where Node can (22 and newer): start-up is felt at every command.
module.enableCompileCache?.();

const { main } = await import('../dist/cli.js');
await main(process.argv.slice(2));
