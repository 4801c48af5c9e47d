// Lists what is hard to read in documents, messages, comments and test titles: sentences of more than
// 25 words, and words that have a plainer form. npm run words [-- paths] [--count] [--strict].
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';
import { importTypeScript } from './typescript-of-tests.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Text that the repository keeps as material of tests, and the table of the words themselves. */
const NOT_READ = [
  /(^|\/)(node_modules|dist|coverage|\.raymond|\.git)(\/|$)/,
  /^test\/(artefacts|journals)(\/|$)/,
  /^test\/lint\/[^/]+\/(fires|quiet)\//,
  /^scripts\/words(\/|\.)/,
];
const EVERYTHING = ['docs', 'templates', 'examples', 'src', 'test', 'scripts', 'bench', 'bin'];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean' }, strict: { type: 'boolean' } },
});

const { findings, hashComments, markdownPassages, sourcePassages } =
  await importTypeScript('scripts/words/words.ts');

const READERS = {
  '.md': (text) => markdownPassages(text),
  '.ts': readSource,
  '.js': readSource,
  '.sh': (text) => hashComments(text),
  '.yaml': (text) => hashComments(text),
};

const found = files().map((file) => {
  const read = READERS[extname(file)];
  return { file, list: findings(read(readFileSync(join(root, file), 'utf8'), file)) };
});
const total = found.reduce((sum, { list }) => sum + list.length, 0);

if (values.count) printCounts();
else printFindings();
process.exitCode = values.strict && total > 0 ? 1 : 0;

function files() {
  const atRoot = readdirSync(root).filter((name) => name.endsWith('.md'));
  const named = positionals.map((path) => relative(root, join(process.cwd(), path)));
  const wanted = named.length > 0 ? named : [...atRoot, ...EVERYTHING];
  return wanted
    .flatMap((path) => (statSync(join(root, path)).isDirectory() ? filesIn(path) : [path]))
    .filter((path) => extname(path) in READERS)
    .sort();
}

function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => !NOT_READ.some((pattern) => pattern.test(path)))
    .filter((path) => statSync(join(root, path)).isFile());
}

function readSource(text, file) {
  const parsed = parseSync(file, text);
  if (parsed.errors.length > 0) throw new Error(`${file}: ${parsed.errors[0].message}`);
  const isTest = file.startsWith('test/') || file.endsWith('.test.ts');
  return sourcePassages(parsed, text, isTest ? 'test' : 'source');
}

function printFindings() {
  for (const { file, list } of found) {
    for (const { line, text } of list) console.log(`${file}:${line}: ${text}`);
  }
  console.log(total === 1 ? '1 finding' : `${total} findings`);
}

function printCounts() {
  const folders = new Map();
  for (const { file, list } of found) {
    const folder = file.includes('/') ? file.split('/').slice(0, -1).slice(0, 2).join('/') : file;
    const { long, avoid } = folders.get(folder) ?? { long: 0, avoid: 0 };
    const longer = list.filter(({ kind }) => kind === 'long').length;
    folders.set(folder, { long: long + longer, avoid: avoid + list.length - longer });
  }
  console.log('long sentences  words to avoid');
  const line = (name, { long, avoid }) =>
    console.log(`${String(long).padStart(14)}  ${String(avoid).padStart(14)}  ${name}`);
  for (const [folder, counts] of folders) line(folder, counts);
  const sum = (kind) => [...folders.values()].reduce((sum, counts) => sum + counts[kind], 0);
  line('together', { long: sum('long'), avoid: sum('avoid') });
}
