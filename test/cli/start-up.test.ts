// A command loads few files, and only the libraries that it needs: every start pays for them.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { writeKeptRuns } from '../kept-runs.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const dist = join(import.meta.dirname, '..', '..', 'dist');

/** A file for the project that reports which files a process has loaded. */
const REPORTER = {
  'reporter.cjs': `
process.on('exit', () =>
  require('node:fs').writeFileSync(process.env.LOADED_FILE, JSON.stringify(Object.keys(require.cache))));
`,
};

/** The names of the files in `dist` that a command has loaded. */
async function loadedBy(project: Project, words: readonly string[]): Promise<readonly string[]> {
  const file = project.path('loaded.json');
  const env = { NODE_OPTIONS: `--require ${project.path('reporter.cjs')}`, LOADED_FILE: file };
  expect(await project.run(words, { env })).toMatchObject({ code: 0 });
  const loaded: readonly string[] = JSON.parse(readFileSync(file, 'utf8'));
  return loaded.filter((path) => dirname(path) === dist).map((path) => basename(path));
}

/** A class of each library, as it is bundled. */
const LIBRARIES = new Map([
  ['commander', /CommanderError(?:=class| extends)/],
  ['zod', /\$ZodAsyncError(?:=class| extends)/],
  ['yaml', /YAMLParseError(?:=class| extends)/],
  ['re2js', /RE2JSException(?:=class| extends)/],
  ['smol-toml', /TomlError(?:=class| extends)/],
  ['mcp', /registerTool/],
  ['lsp', /ReadableStreamMessageReader/],
  ['acp', /AgentApp/],
  ['pg', /SCRAM-SHA-256/],
  // A part of Raymond itself, which only some environments switch on.
  ['telemetry', /raymond\.step\.duration/],
]);

const librariesIn = (files: readonly string[]) => {
  const all = files.map((name) => readFileSync(join(dist, name), 'utf8')).join('\n');
  return [...LIBRARIES].flatMap(([name, part]) => (part.test(all) ? [name] : []));
};

const built = (ending: string) => readdirSync(dist).filter((name) => name.endsWith(ending));

test('each library is found in the files of the program', () => {
  expect(librariesIn(built('.cjs'))).toEqual([...LIBRARIES.keys()]);
});

test('the help loads three files, and one library', async () => {
  const files = await loadedBy(newProject(REPORTER), ['--help']);
  expect(files).toHaveLength(3);
  expect(librariesIn(files)).toEqual(['commander']);
});

test('a list of unchanged runs reads no journal, so it loads no schema', async () => {
  const project = newProject(REPORTER);
  expect(librariesIn(await loadedBy(project, ['list']))).toEqual(['commander']);
  writeKeptRuns(project.folder, 3);
  project.write('START.sh', `echo '<result>ok</result>'\n`);
  // The first own run makes the user's key, which seals the index.
  expect(await project.run(['.', '--workflow-id', 'own'])).toMatchObject({ code: 0 });
  await eventually('all runs are in the index', async () => {
    const files = await loadedBy(project, ['list']);
    expect(files.length).toBeLessThanOrEqual(5);
    return librariesIn(files).join() === 'commander';
  });
});

test('commands that look at a run read no workflow, so they load no YAML', async () => {
  const project = newProject({ ...REPORTER, 'START.sh': `echo '<result>ok</result>'\n` });
  expect(await project.run(['.', '--workflow-id', 'r'])).toMatchObject({ code: 0 });
  for (const words of ['list --json', 'show r', 'logs r']) {
    const files = await loadedBy(project, words.split(' '));
    expect(files.length, words).toBeLessThanOrEqual(6);
    expect(librariesIn(files), words).toEqual(['commander', 'zod']);
  }
});

test('a run loads no server, and telemetry only if the environment switches it on', async () => {
  const project = newProject({ ...REPORTER, 'START.sh': `echo '<result>ok</result>'\n` });
  const libraries = librariesIn(await loadedBy(project, ['.']));
  expect(libraries).not.toContain('mcp');
  expect(libraries).not.toContain('telemetry');
});

test('the library does not contain the option parser', () => {
  expect(librariesIn(built('.js'))).not.toContain('commander');
});
