// The workflow that publishes a release cannot run here: see docs/reference/not-run.md.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from './documents.ts';

interface Job {
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly name?: string;
  }[];
}

const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
const { on, permissions, jobs } = parse(text);
const publish: Job = jobs.publish;
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('only a tag of a version starts it, and it publishes only what passes the checks', () => {
  expect(on).toEqual({ push: { tags: ['v*.*.*'] } });
  expect(jobs.publish.needs).toBe('check');
  expect(jobs.check.steps.at(-1).run).toBe('bash .ci/run');
});

test('each action is a commit, and one job alone may sign', () => {
  for (const { steps } of Object.values<Job>(jobs))
    for (const { uses } of steps)
      if (uses !== undefined) expect(uses).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
  expect(permissions).toEqual({});
  expect(jobs.check.permissions).toEqual({ contents: 'read' });
  expect(publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(publish.steps.at(-1)?.run).toBe('npm publish --provenance --access public');
});

test.each([
  [`v${version}`, 0],
  ['v99.0.0', 1],
])('the tag %s is compared with the version of the package', (tag, status) => {
  const compare = publish.steps.find(({ name }) => name?.startsWith('The tag'))?.run ?? 'exit 9';
  const env = { ...process.env, GITHUB_REF_NAME: tag };
  expect(spawnSync('/bin/bash', ['-ec', compare], { cwd: root, env }).status).toBe(status);
});

test('npm accepts the package for the registry', () => {
  const words = [
    'publish',
    '--dry-run',
    '--ignore-scripts',
    '--access',
    'public',
    '--json',
    '--offline',
  ];
  const said = JSON.parse(
    execFileSync('npm', words, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  expect(JSON.stringify(said)).toContain(`"version":"${version}"`);
});
