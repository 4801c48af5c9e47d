// Writes the language library for the pure folders: TypeScript's own, without the clock and
// randomness. So `Date.now()` and `Math.random()` do not compile there, like everything from Node.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = `@typescript/typescript-${process.platform}-${process.arch}`;
const libraries = join(root, 'node_modules', compiler, 'lib');
const target = join(root, 'node_modules', '.cache', 'raymond', 'pure-lib.d.ts');

/** The members to leave out, by interface. */
const IMPURE = {
  DateConstructor: ['new (): Date;', '(): string;', 'now(): number;'],
  Math: ['random(): number;'],
};

const read = new Set();
const text = withoutImpure(complete('es2023'));
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, text);

/** A library with every library that it refers to, each once. */
function complete(name) {
  if (read.has(name)) return '';
  read.add(name);
  const own = readFileSync(join(libraries, `lib.${name}.d.ts`), 'utf8');
  const others = [...own.matchAll(/^\/\/\/ <reference lib="([^"]+)" \/>/gm)];
  return [...others.map(([, other]) => complete(other)), own].join('\n');
}

function withoutImpure(library) {
  let changed = library.replace(/^\/\/\/ <reference .*$/gm, '');
  for (const [name, members] of Object.entries(IMPURE)) {
    for (const member of members) {
      const within = new RegExp(
        `(interface ${name} \\{[^}]*?\\n)\\s*${member.replace(/[()]/g, '\\$&')}[^\\n]*\\n`,
      );
      if (!within.test(changed)) throw new Error(`TypeScript's library has no ${name}: ${member}`);
      changed = changed.replace(within, '$1');
    }
  }
  return changed;
}
