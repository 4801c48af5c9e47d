// Starts bin/raymond.js with the code that an earlier start has compiled. Newer versions of Node keep it
// themselves. For Node 20, `prepare.ts` makes it: without it, a fifth of each start is compilation.
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { basename, dirname, join } = require('node:path');
const { constants, Script } = require('node:vm');

const dist = join(__dirname, '..', 'dist');
const kept = join(__dirname, 'artefacts', 'compiled');
const isMaking = process.env.COMPILED_CODE === 'make';

if (Module.enableCompileCache === undefined) {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (text, filename, ...more) {
    const isOurs = dirname(filename) === dist;
    return isOurs ? run(this, text, filename) : compile.call(this, text, filename, ...more);
  };
}

require('../bin/raymond.js');

function run(module, text, filename) {
  const file = join(kept, basename(filename));
  const script = new Script(Module.wrap(text), {
    filename,
    cachedData: compiledIn(file, filename),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (isMaking) process.on('exit', () => keep(file, script.createCachedData()));
  const { exports } = module;
  const given = [exports, Module.createRequire(filename), module, filename, dist];
  return script.runInThisContext().apply(exports, given);
}

/** Undefined if there is none, or it is of an earlier build. */
function compiledIn(file, source) {
  try {
    return statSync(file).mtimeMs > statSync(source).mtimeMs ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Another process may read it in the same moment. */
function keep(file, code) {
  mkdirSync(kept, { recursive: true });
  const written = `${file}.${process.pid}`;
  writeFileSync(written, code);
  renameSync(written, file);
}
