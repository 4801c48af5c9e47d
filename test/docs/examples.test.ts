// Every fenced block of every document has a known kind, and every example works as shown. The kinds
// are described in CONTRIBUTING.md.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { parse as parseToml } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { loadWorkflow } from '../../src/index.ts';
import { aloneIn, decodeLine } from '../../src/journal/journal-format.ts';
import { stateFileSchema } from '../../src/journal/state-file-schema.ts';
import { lint } from '../../src/lint/lint.ts';
import { JOURNAL_VERSION } from '../../src/model/event.ts';
import { tagChoices } from '../../src/parse/agent-choices.ts';
import { readPrompt } from '../../src/parse/front-matter.ts';
import { readTags } from '../../src/parse/tags.ts';
import { readMove } from '../../src/parse/transition.ts';
import { readConfig } from '../../src/world/config/config-file.ts';
import { testConsoles } from './console.ts';
import { type Block, type Document, documents, root } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';
import { hasPrompts, playShown, workflowsOf } from './workflows.ts';

const choices = tagChoices(AGENTS);

/** Documents whose examples have their own test. */
const CHECKED_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['docs/reference/lint.md', 'test/lint/lint.test.ts'],
]);

/** Documents whose commands have their own test, in a clean clone or with an agent. */
const RUN_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['README.md', 'test/docs/newcomer.test.ts'],
  ['docs/guide/getting-started.md', 'test/docs/newcomer.test.ts'],
  ['docs/guide/from-a-loop.md', 'test/docs/from-a-loop.test.ts'],
  ['docs/guide/three-workflows.md', 'test/docs/three-workflows.test.ts'],
  ['docs/guide/skills.md', 'test/docs/skills.test.ts'],
  ['docs/guide/many-machines.md', 'test/docs/many-machines.test.ts'],
  ['docs/guide/it-starts-by-itself.md', 'test/docs/it-starts-by-itself.test.ts'],
]);

const ours = documents.filter(({ path, blocks }) => !CHECKED_ELSEWHERE.has(path) && blocks.length);

/** The check for a block that needs no project, by language and first word. */
const CHECKS: Readonly<Record<string, (text: string) => void>> = {
  /** Sketches. */
  text: () => {},
  /** Diagrams of templates; test/docs/generated.test.ts makes them. */
  mermaid: (text) => expect(text).toMatch(/^flowchart TD\n/),
  /** Commands that a test cannot run, such as an installation. */
  'sh not-run': (text) =>
    expect(spawnSync('/bin/bash', ['-n'], { input: text, encoding: 'utf8' }).stderr).toBe(''),
  /** The README's commands for a fresh machine; test/docs/newcomer.test.ts runs them. */
  'sh clone': (text) => expect(text).toMatch(/^git clone <repository> /),
  /** A command that a person stops; the document's own test runs it. */
  'sh endless': (text) => expect(text).toMatch(/^while :; do .* done$/m),
  /** Each line is a transition. */
  'html tags': (text) => {
    for (const line of nonEmpty(text)) {
      expect(readMove(readTags(line, { code: 'ignored' }), choices), line).toMatchObject({
        ok: true,
      });
    }
  },
  /** Each line is rejected, or contains no tag. */
  'html bad-tags': (text) => {
    for (const line of nonEmpty(text)) {
      expect(readMove(readTags(line, { code: 'heeded' }), choices), line).toMatchObject({
        ok: false,
      });
    }
  },
  /** The keys of a front matter. */
  'yaml policy': (text) =>
    expect(readPrompt('S.md', `---\n${text}---\n`, AGENTS).diagnostics).toEqual([]),
  'toml config': (text) => void readConfig('config.toml', text, '.', 'user'),
  'jsonl events': (text) => {
    for (const line of nonEmpty(text))
      expect(decodeLine(aloneIn(Buffer.from(line)), JOURNAL_VERSION), line).toMatchObject({
        kind: 'event',
      });
  },
  'json state-file': (text) => void stateFileSchema.parse(JSON.parse(text)),
  json: (text) => void JSON.parse(text),
  toml: (text) => void parseToml(text),
  yaml: (text) => void parseYaml(text),
};

test('a document that is not checked here names the test that checks it', () => {
  for (const [path, elsewhere] of [...CHECKED_ELSEWHERE, ...RUN_ELSEWHERE]) {
    if (!documents.some((document) => document.path === path)) continue;
    expect(readFileSync(join(root, elsewhere), 'utf8')).toContain(path.split('/').at(-1));
  }
});

describe.each(ours)('$path', (document) => {
  let project: DocumentProject;
  /** The files and programs of a person who reads from the beginning. */
  let reader: DocumentProject;
  beforeAll(() => {
    project = makeDocumentProject(document);
    project.showUntil(Number.POSITIVE_INFINITY);
    reader = makeDocumentProject(document);
  });
  afterAll(async () => {
    await project.remove();
    await reader.remove();
  });

  test('has only blocks of known kinds', () => {
    for (const block of document.blocks) {
      expect(kindOf(block), `line ${block.line}`).toBeDefined();
    }
  });

  const checked = document.blocks.filter((block) => kindOf(block) === 'checked');
  test.each(checked.map((block) => ({ ...block, name: titleOf(block) })))('$name', (block) => {
    checkOf(block)?.(block.text);
  });

  const workflows = workflowsOf(document);
  test.each(workflows)('the workflow $path has no fault', async ({ path }) => {
    const workflow = await loadWorkflow(path, { cwd: project.folder, platform: 'unix' });
    const isWhole = !document.blocks.some(({ text }) =>
      text.includes(`init plan-implement-review ${path}`),
    );
    const faults = isWhole ? lint(workflow) : workflow.diagnostics;
    expect(faults.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
  test.each(workflows.filter(hasPrompts))('the workflow $path can be played', async (workflow) => {
    const note = document.plays.find((play) => play.workflow === workflow.path);
    const others = workflows.filter((other) => other !== workflow);
    const { run, path } = await playShown(workflow, others, note);
    const outcome = run.status.kind === 'ended' ? run.status.outcome : run.status.kind;
    const problems = [...run.agents].flatMap(([, { status }]) =>
      status.kind === 'failed' ? [status.failure.message] : [],
    );
    expect(problems).toEqual([]);
    expect(outcome).toBe(note?.expected.get('ends') ?? 'completed');
    if (note?.expected.has('path')) expect(path().join(' ')).toBe(note.expected.get('path'));
    if (note?.expected.has('result')) expect(run.result).toBe(note.expected.get('result'));
  });
  test.each(workflows.filter((workflow) => !hasPrompts(workflow)))(
    'the workflow $path runs, or a workflow that runs uses it',
    ({ path }) => {
      const users = document.blocks.filter(({ language, file }) => language === 'console' || file);
      expect(users.some(({ text }) => text.includes(path))).toBe(true);
    },
  );

  if (!RUN_ELSEWHERE.has(document.path)) testConsoles(document.blocks, () => reader);
});

describe('TypeScript in the documents', () => {
  const folder = join(root, 'test/artefacts/docs-examples');
  const programs = ours.flatMap((document) =>
    document.blocks
      .filter(({ language }) => language === 'ts')
      .map((block, n) => ({ document, block, name: `${slug(document.path)}-${n + 1}` })),
  );
  beforeAll(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const { name, block } of programs) {
      writeFileSync(join(folder, `${name}.ts`), block.text);
      const { code } = transformSync(block.text, { loader: 'ts', target: 'node20' });
      writeFileSync(join(folder, `${name}.mjs`), code);
    }
    const config = { extends: '../../../tsconfig.json', include: ['*.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has no type errors', () => {
    const tsc = join(root, 'node_modules/.bin/tsc');
    const { stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  test.each(programs)('$name runs', async ({ document, name }) => {
    const project = makeDocumentProject(document);
    project.showUntil(Number.POSITIVE_INFINITY);
    try {
      const file = join(folder, `${name}.mjs`);
      const { status, stderr, stdout } = spawnSync(process.execPath, [file], {
        cwd: project.folder,
        encoding: 'utf8',
      });
      expect({ status, said: status === 0 ? '' : stderr + stdout }).toEqual({
        status: 0,
        said: '',
      });
    } finally {
      await project.remove();
    }
  });
});

function kindOf(block: Block): 'file' | 'console' | 'program' | 'checked' | undefined {
  if (block.file !== undefined) return 'file';
  if (block.language === 'console' && block.words.length === 0) return 'console';
  if (block.language === 'ts' && block.words.length === 0) return 'program';
  return checkOf(block) ? 'checked' : undefined;
}

function checkOf({ language, words }: Block) {
  return CHECKS[[language, ...words].join(' ')];
}

function titleOf({ language, words, line }: Block): string {
  return `line ${line}: ${[language, ...words].join(' ')}`;
}

function nonEmpty(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function slug(path: Document['path']): string {
  return path.replace(/\.md$/, '').replaceAll('/', '-').toLowerCase();
}
