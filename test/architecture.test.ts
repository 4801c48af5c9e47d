// Checks which folder may import which. The folders are layers: the imports of a folder limit what it
// can do.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { failureSchema } from '../src/model/failure.ts';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** The folders and single files of `src` that a folder may import, besides itself. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  model: [],
  parse: ['model'],
  interpret: ['model', 'parse'],
  graph: ['model', 'parse', 'interpret', 'history'],
  draw: ['model', 'parse', 'graph'],
  history: ['model'],
  timeline: ['model', 'draw', 'history'],
  look: ['model', 'history', 'timeline', 'observe', 'host', 'ports.ts'],
  forecast: ['model', 'graph'],
  page: [],
  explore: ['model', 'parse', 'interpret', 'graph'],
  bound: ['model', 'parse', 'interpret', 'graph'],
  evidence: ['model', 'forecast'],
  lint: ['model', 'parse', 'interpret', 'graph', 'explore', 'bound'],
  editing: ['model', 'parse', 'graph', 'draw', 'lint'],
  ports: ['model'],
  'ports.ts': ['model', 'ports'],
  files: [],
  hooks: ['model'],
  triggers: ['model', 'files', 'journal'],
  load: ['model', 'parse', 'files', 'ports.ts'],
  execute: ['model', 'parse', 'files', 'ports.ts'],
  journal: ['model', 'parse', 'files', 'ports.ts'],
  postgres: ['model', 'journal', 'ports.ts'],
  observe: ['model', 'history', 'files', 'ports.ts'],
  view: ['model', 'observe'],
  run: ['model', 'parse', 'interpret', 'ports.ts'],
  host: ['model', 'interpret', 'run', 'ports.ts'],
  fleet: ['model', 'interpret', 'run', 'host', 'postgres', 'ports.ts'],
  'index.ts': ['model', 'parse', 'interpret', 'load', 'execute', 'library.ts'],
  'library.ts': ['model', 'run', 'host', 'app', 'world', 'ports.ts'],
  'testing.ts': [
    'model',
    'parse',
    'interpret',
    'workflow-tests',
    'execute',
    'journal',
    'load',
    'ports.ts',
  ],
  'workflow-tests': [
    'model',
    'hooks',
    'triggers',
    'parse',
    'interpret',
    'graph',
    'explore',
    'lint',
    'files',
    'execute',
    'journal',
    'load',
    'run',
    'host',
    'ports.ts',
    'options',
  ],
  options: ['model', 'parse', 'interpret', 'files'],
  mcp: ['model', 'look', 'host', 'app', 'ports.ts'],
  acp: ['model', 'interpret', 'observe', 'app'],
  lsp: ['model', 'parse', 'graph', 'editing', 'files', 'load', 'schemas'],
  telemetry: ['model', 'ports.ts'],
  serve: [
    'model',
    'interpret',
    'history',
    'graph',
    'draw',
    'timeline',
    'forecast',
    'bound',
    'look',
    'observe',
    'host',
    'app',
    'ports.ts',
  ],
  schemas: ['model', 'parse', 'options'],
  world: [
    'model',
    'hooks',
    'parse',
    'interpret',
    'graph',
    'lint',
    'explore',
    'files',
    'load',
    'execute',
    'journal',
    'postgres',
    'fleet',
    'observe',
    'options',
    'run',
    'host',
    'telemetry',
    'workflow-tests',
    'ports.ts',
  ],
  app: [
    'model',
    'hooks',
    'triggers',
    'look',
    'parse',
    'interpret',
    'history',
    'graph',
    'lint',
    'explore',
    'forecast',
    'bound',
    'evidence',
    'files',
    'load',
    'execute',
    'journal',
    'observe',
    'options',
    'workflow-tests',
    'host',
    'world',
    'ports.ts',
  ],
  cli: [
    'app',
    'evidence',
    'hooks',
    'world',
    'options',
    'workflow-tests',
    'model',
    'parse',
    'interpret',
    'history',
    'graph',
    'draw',
    'timeline',
    'forecast',
    'bound',
    'look',
    'explore',
    'lint',
    'files',
    'load',
    'execute',
    'journal',
    'postgres',
    'fleet',
    'observe',
    'view',
    'run',
    'host',
    'serve',
    'mcp',
    'acp',
    'lsp',
    'telemetry',
    'ports.ts',
    'testing.ts',
  ],
};

/** The packages that pure folders may use. Everything else is an argument. */
const PURE_PACKAGES = new Set(['zod/mini', 'yaml', 're2js']);
const PURE = new Set([
  'model',
  'parse',
  'interpret',
  'graph',
  'draw',
  'history',
  'timeline',
  'forecast',
  'explore',
  'bound',
  'lint',
  'editing',
  'view',
]);

/** The modules of `src` that the page of `raymond serve` runs. It may use the types of all others. */
const FOR_BROWSERS = [
  'draw/arrange.ts',
  'draw/lines.ts',
  'draw/text-width.ts',
  'look/changes.ts',
  'model/context-kinds.ts',
  'model/limits.ts',
  'model/rights-text.ts',
  'model/kept-file.ts',
  'model/shell-word.ts',
  'model/unreachable.ts',
  'model/visible.ts',
  'observe/doing-text.ts',
  'observe/words.ts',
  'page/gestures.ts',
  'page/view.ts',
  'timeline/axis.ts',
  'view/line-diff.ts',
  'view/tool-view.ts',
];

const page = fileURLToPath(new URL('../page/', import.meta.url));
const pageFiles = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /(?<!\.test)\.tsx?$/.test(name),
);

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);

/** Programs of their own: processes of a step, not of Raymond. */
const STEP_PROGRAMS = ['execute/rights/confine-process.ts', 'execute/secrets/clean-process.ts'];

test('every folder of src has a rule', () => {
  expect(files.map(layerOf).filter((layer) => !(layer in MAY_USE))).toEqual([]);
});

test('a file imports only what its folder may use', () => {
  const wrong = files.flatMap((file) => {
    const layer = layerOf(file);
    const mayUse = (target: string) => {
      if (!target.startsWith('.')) return !PURE.has(layer) || PURE_PACKAGES.has(target);
      const used = layerOf(relative(src, join(src, dirname(file), target)));
      return used === layer || MAY_USE[layer]?.includes(used);
    };
    const targets = imports(file).filter((target) => !mayUse(target));
    return targets.map((target) => `${file} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test('the page imports from src only what runs in a browser', () => {
  const statements = /^import (type )?[^;]*?from '(?:\.\.\/)+src\/([^']+)'/gm;
  const wrong = pageFiles.flatMap((file) => {
    const text = withoutComments(readFileSync(join(page, file), 'utf8'));
    return [...text.matchAll(statements)]
      .filter(([, isType, target = '']) => !isType && !FOR_BROWSERS.includes(target))
      .map(([, , target]) => `${file} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test('outside its folder, only the file that builds ports knows Claude Code', () => {
  const outside = files.filter((file) => !file.startsWith('execute/claude/'));
  const users = outside.filter((file) =>
    imports(file).some((target) => target.includes('claude/')),
  );
  expect(users.sort()).toEqual([
    'cli/operate/doctor-agents.ts',
    'execute/agents/agent-option.ts',
    'execute/agents/agents.ts',
    'world/agent.ts',
    'world/wire.ts',
  ]);
});

test('outside its folder, only the files that build ports know codex', () => {
  const outside = files.filter((file) => !file.startsWith('execute/codex/'));
  const users = outside.filter((file) => imports(file).some((target) => target.includes('codex/')));
  expect(users.sort()).toEqual([
    'cli/operate/doctor-agents.ts',
    'execute/agents/agent-option.ts',
    'execute/agents/agents.ts',
    'world/wire.ts',
  ]);
});

test('outside its folder and the door for editors, nobody knows a message of the Agent Client Protocol', () => {
  // The table of verbs names the messages, as it names commands and routes.
  const outside = files.filter((file) => !/^(?:execute\/acp|acp)\/|^app\/verbs\.ts$/.test(file));
  const text = (file: string) => readFileSync(join(src, file), 'utf8');
  const isMessage = /'(?:session|fs|terminal)\/\w+'|@agentclientprotocol\/sdk/;
  expect(outside.filter((file) => isMessage.test(text(file)))).toEqual([]);
  const protocol = text('execute/acp/protocol.ts') + text('execute/acp/open-session.ts');
  expect(protocol).toMatch(isMessage);
  // Otherwise only types: no other command loads the SDK.
  const loaded = files.filter((file) =>
    /^import (?!type)[^;]*@agentclientprotocol/m.test(text(file)),
  );
  expect(loaded).toEqual(['acp/server.ts']);
});

test('runs are reached through the store: the files of a world build it, and no other file knows the files of runs', () => {
  // Free to use: the JSON of a run, the form of an id, and the disk for the user's own files.
  const open = /journal\/(?:freeze-run|state-file-schema|thaw-run|run-id|disk|disk-errors)\.ts$/;
  const insiders = files
    // The store in a database has events of the same form.
    .filter((file) => !/^(?:journal|postgres)\//.test(file))
    .filter((file) =>
      imports(file).some((target) => target.includes('journal/') && !open.test(target)),
    );
  expect(insiders.sort()).toEqual([
    'world/fleet/fleet.ts',
    'world/run-codec.ts',
    'world/stored-runs.ts',
    'world/surroundings.ts',
  ]);
});

test('only the stores and workers of a database know PostgreSQL', () => {
  const packages = new Set(['pg', '@dbos-inc/dbos-sdk']);
  const users = files.filter((file) => imports(file).some((target) => packages.has(target)));
  expect(users.filter((file) => !/^(?:postgres|fleet)\//.test(file))).toEqual([]);
  // Without a database, nothing of it is loaded: these are loaded when one is chosen.
  const builders = files
    .filter((file) => /^(?:cli|app|world)\//.test(file))
    .filter((file) => /^import (?!type)[^;]*'[./]+\/postgres\//m.test(code(file)));
  expect(builders.sort()).toEqual([
    'cli/operate/worker.ts',
    'world/fleet/database-runs.ts',
    'world/fleet/fleet.ts',
    'world/fleet/shared-triggers.ts',
    'world/fleet/steps-elsewhere.ts',
    'world/fleet/worker-ports.ts',
  ]);
});

test('nobody outside of a world asks where a run lives, and no SQL is outside of the database', () => {
  const doors = files.filter((file) => !/^(?:postgres|fleet|world)\//.test(file));
  const asking = /\.database\s*(?:\?|&&|\|\||===|!==)|!\w+\.database\b/;
  expect('if (around.database) {').not.toMatch(asking);
  expect('around.database ? a : b').toMatch(asking);
  expect(doors.filter((file) => asking.test(code(file)))).toEqual([
    // The choice of a database, from which a world is made.
    'cli/command-line.ts',
  ]);
  const others = files.filter((file) => !/^(?:postgres|fleet)\//.test(file));
  expect(others.filter((file) => /\b(?:from|into|update) raymond\.\w/.test(code(file)))).toEqual(
    [],
  );
});

test("nothing outside load asks for the kind of a workflow's source", () => {
  const asking = files.filter(
    (file) => !file.startsWith('load/') && /['"]\.(?:zip|ya?ml)['"]|isZip/.test(code(file)),
  );
  expect(asking).toEqual([]);
});

const WAYS_OUT = [
  /\bprocess\s*\.\s*(?:stdout|stderr)\b/,
  // Not a host of an agent.
  /\bconsole\b(?!\.anthropic\.com)/,
  /\bstd(?:out|err)\b[^}\n]*\}\s*=\s*process\b/,
  /from '(?:node:)?(?:process|console)'/,
  /\bwrite(?:File)?Sync\(\s*[12]\b/,
  /\/dev\/(?:tty|std|fd)/,
];

test('all output to a terminal goes through one module', () => {
  const writers = files.filter((file) => WAYS_OUT.some((way) => way.test(code(file))));
  expect(writers.sort()).toEqual(['cli/terminal/terminal.ts', ...STEP_PROGRAMS]);
});

/** Things that a process has once: its streams, its signals, its end. The host of a run uses none of them. */
const OF_THE_PROCESS: readonly [what: string, RegExp, users: readonly string[]][] = [
  [
    'standard input',
    /\bprocess\s*\.\s*stdin\b|\bstdin\b[^}\n]*\}\s*=\s*process\b/,
    ['cli/terminal/terminal.ts'],
  ],
  [
    'exit codes',
    /\bprocess\s*\.\s*(?:exit|exitCode|abort)\b/,
    ['cli/main.ts', 'cli/run/starter.ts', 'cli/terminal/terminal.ts', ...STEP_PROGRAMS],
  ],
  [
    'signals and uncaught errors',
    /\bprocess\s*\.\s*(?:on|once|off|addListener|prependListener|removeAllListeners)\b/,
    [
      'cli/terminal/signals.ts',
      'cli/run/starter.ts',
      'cli/terminal/terminal.ts',
      'execute/process/output-of.ts',
      ...STEP_PROGRAMS,
    ],
  ],
];

test.each(OF_THE_PROCESS)('%s of the process belong to named files', (_what, use, users) => {
  // The wrapper for Windows is the text of another program.
  const others = files.filter((file) => file !== 'execute/process/windows.ts');
  expect(others.filter((file) => use.test(code(file))).sort()).toEqual([...users].sort());
});

test('the host of a run does not use the process', () => {
  const hosts = files.filter((file) => file.startsWith('host/') || file.startsWith('run/'));
  expect(hosts.length).toBeGreaterThan(8);
  const knowing = /\bprocess\s*[.[]|\bDate\.now\b|\bsetTimeout\b|\brandomUUID\b|from 'node:/;
  expect(hosts.filter((file) => knowing.test(code(file)))).toEqual([]);
});

test('only the server loads the packages of the server, and only its command loads the server', () => {
  const users = files.filter((file) => imports(file).some((target) => /^@?hono\b/.test(target)));
  expect(users.sort()).toEqual(['serve/app.ts', 'serve/server.ts']);
  const starters = files.filter(
    (file) =>
      !file.startsWith('serve/') &&
      imports(file).some((target) => /serve\/(?:app|server)\.ts$/.test(target)),
  );
  expect(starters).toEqual(['cli/operate/serve.ts']);
  const loaders = files.filter((file) => /from '[^']*commands\/serve\.ts'/.test(code(file)));
  expect(loaders).toEqual([]);
});

test('no promise is made that never settles', () => {
  const endless = /new Promise(?:<[^(]*>)?\(\s*\(\)\s*=>\s*\{\s*\}\s*\)/;
  expect('return new Promise<void>(() => {});').toMatch(endless);
  expect(files.filter((file) => endless.test(code(file)))).toEqual([]);
});

test('only the modules for the screen add escape codes', () => {
  const colorful = files.filter((file) => /\\x1b|\\u001b|\\u\{1b\}|\\e\[/i.test(code(file)));
  const modules = ['cli/terminal/terminal.ts', 'observe/block.ts', 'observe/screen.ts'];
  // It only reads what a terminal sends.
  expect(colorful.sort()).toEqual([...modules, 'view/keys.ts']);
});

function layerOf(file: string): string {
  return file.split('/')[0] ?? file;
}

function imports(file: string): readonly string[] {
  const statements = /^(?:import|export)\b[^;]*?\bfrom '([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...code(file).matchAll(statements)].map(
    ([, static_, dynamic]) => static_ ?? dynamic ?? '',
  );
}

const codes = new Map(
  files.map((file) => [file, withoutComments(readFileSync(join(src, file), 'utf8'))]),
);

function code(file: string): string {
  return codes.get(file) ?? '';
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** The folders of the language, and those that serve every agent alike. */
const KNOW_NO_AGENT = new Set([
  'parse',
  'interpret',
  'graph',
  'draw',
  'timeline',
  'forecast',
  'explore',
  'bound',
  'lint',
  'options',
  'schemas',
  'run',
  'host',
  'observe',
  'load',
]);

/** Words that belong to an executor: the names of agents, and of the choices for them. */
const WORDS_OF_AGENTS = new Set([
  ...['claude', 'anthropic', 'codex', 'openai', 'gemini', 'copilot', 'mcp'],
  ...['model', 'models', 'opus', 'sonnet', 'haiku', 'effort', 'efforts'],
  // Every agent may ask for a permission. What it may do without asking is its own matter.
  ...['permission mode', 'permission modes', 'skip permissions', 'bypass', 'accept edits'],
  ...['allowed tools', 'disallowed tools'],
]);

/** This file lists the variables of all kinds of programs. A workflow must not set them. */
const LISTS_PROGRAMS = 'parse/refused-names.ts';

const ofNoAgent = files.filter(
  (file) => KNOW_NO_AGENT.has(layerOf(file)) && file !== LISTS_PROGRAMS,
);

test('the folders that know no agent have no word of one', () => {
  const found = ofNoAgent.flatMap((file) =>
    wordsOfAgents(code(file)).map((word) => `${file} has ${word}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ["const known = ['opus'];", ['opus']],
  ['policy.allowedTools', ['allowed tools']],
  ['allowed_tools: []', ['allowed tools']],
  ["if (mode === 'acceptEdits') return;", ['accept edits']],
  ['readPermissionMode(reader)', ['permission mode']],
  ['asksPermission(status)', []],
  ["'--effort'", ['effort']],
  ['settings.model ?? MODELS[0]', ['model', 'models']],
  ["import type { Tag } from '../model/tag.ts';", []],
  ["case 'unknown-model':", []],
  ['// The model answers.', []],
  ['remodelled, effortless, allowed, tools', []],
])('%s has the words %j', (text, words) => {
  expect(wordsOfAgents(withoutComments(text))).toEqual(words);
});

/** The words in identifiers, keys and texts. Kinds of failures are part of the journal. */
function wordsOfAgents(text: string): readonly string[] {
  const kinds = failureSchema.shape.kind.options.map((kind) => `'${kind}'`);
  const own = kinds
    .reduce((rest, kind) => rest.replaceAll(kind, ''), text)
    .replace(/from '(?:\.\.?\/)+model\/[\w-]+\.ts'/g, '');
  const words = (own.match(/[A-Za-z]\w*/g) ?? []).flatMap((name) => {
    const parts = name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split('_');
    return [...parts, ...parts.map((part, i) => `${part} ${parts[i + 1]}`)];
  });
  return [...new Set(words.filter((word) => WORDS_OF_AGENTS.has(word)))];
}
