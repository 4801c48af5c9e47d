// Keeps the compiled code of the program, so that later starts need not compile it. V8 rejects code that
// another version of it has compiled.
const {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const Module = require('node:module');
const { homedir } = require('node:os');
const { basename, dirname, isAbsolute, join } = require('node:path');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const dist = join(__dirname, '..', 'dist');
/** V8 takes code for a text of the same length, so only a file whose name has the hash of its content is kept. */
const OF_ITS_CONTENT = /-[\w-]{8}\.cjs$/;
let isKept = false;

/**
 * The folder for the code of this version; undefined if there is none that only the user can change.
 * A process that can change compiled code can make Raymond do anything. So the folder is beside the key of the
 * user, where agents can change nothing. Node itself would use a shared folder.
 */
exports.usualFolder = () => {
  try {
    const named = process.env.XDG_STATE_HOME;
    const states =
      named !== undefined && isAbsolute(named)
        ? named
        : join(realpathSync(homedir()), '.local/state');
    const own = join(states, 'raymond');
    const { uid, mode } = statSync(own);
    if (process.getuid && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    return folderOfVersion(join(own, 'compiled'), require('../package.json').version);
  } catch {
    // The first run makes the folder of the user.
    return undefined;
  }
};

/** Another version leaves its folder to be removed by this one. */
function folderOfVersion(all, version) {
  const folder = join(all, version);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined)
    for (const other of readdirSync(all))
      if (other !== version) rmSync(join(all, other), { recursive: true, force: true });
  return folder;
}

/**
 * Only the first call counts. Node 22 and newer could do it themselves, but what they keep saves only a part of
 * the compilation.
 */
exports.keepCompiled = (all) => {
  if (isKept || all === undefined || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  isKept = true;
  const folder = join(all, `${process.version}-${process.arch}`);
  const scripts = new Map();
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (text, filename, ...more) {
    if (dirname(filename) !== dist || !OF_ITS_CONTENT.test(filename))
      return compile.call(this, text, filename, ...more);
    const file = join(folder, basename(filename));
    const cachedData = read(file);
    const script = new Script(Module.wrap(text), { filename, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected) scripts.set(file, script);
    const given = [this.exports, Module.createRequire(filename), this, filename, dist];
    return script.runInThisContext().apply(this.exports, given);
  };
  // At the end, because the code of a function is compiled when it is called.
  process.on('exit', () => {
    for (const [file, script] of scripts) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        replace(file, script.createCachedData());
      } catch {
        // A full disk: the next start tries it again.
      }
    }
  });
};

/** V8 would crash on damaged code, so a checksum is at the end. Undefined if there is no whole file. */
function read(file) {
  try {
    const all = readFileSync(file);
    const content = all.subarray(0, -CHECKSUM_BYTES);
    return all.readUInt32LE(content.length) === crc32(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

const CHECKSUM_BYTES = 4;

function replace(file, content) {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(content));
  const written = `${file}.${process.pid}`;
  try {
    const opened = openSync(written, 'wx', 0o600);
    try {
      writeFileSync(opened, content);
      writeFileSync(opened, checksum);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(written, file);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  }
}
