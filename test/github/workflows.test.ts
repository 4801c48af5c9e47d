// The files for GitHub Actions: our own, the examples, and those in the guide. No runner of GitHub is here.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readDocument, root } from '../docs/documents.ts';
import { readAction } from './composite-runner.ts';
import { type WorkflowFile, workflowFileSchema } from './shapes.ts';

const filesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => ({
      file: `${folder}/${name}`,
      text: readFileSync(join(root, folder, name), 'utf8'),
    }));
const shown = readDocument('docs/guide/ci.md').blocks.flatMap(({ file, text }) =>
  file?.startsWith('.github/workflows/') ? [{ file: `docs/guide/ci.md ${file}`, text }] : [],
);
const files = [...filesIn('.github/workflows'), ...filesIn('examples/github'), ...shown];
const action = readAction(join(root, 'action.yml'));
const scripts = ({ jobs }: WorkflowFile) =>
  Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

test('there are files to check', () => {
  expect(files.length).toBeGreaterThan(4);
});

describe.each(files)('$file', ({ text }) => {
  const workflow = workflowFileSchema.parse(parse(text));
  const jobs = Object.values(workflow.jobs);

  test('every action has a version, and the inputs of ours exist', () => {
    for (const { uses, with: given = {} } of jobs.flatMap(({ steps }) => steps)) {
      if (uses === undefined) continue;
      expect(uses).toMatch(
        /^(?:actions\/[a-z-]+@(?:v\d+|[0-9a-f]{40})|raymond-workflows\/raymond@main)$/,
      );
      if (!uses.startsWith('raymond-workflows/raymond')) continue;
      expect(Object.keys(action.inputs ?? {})).toEqual(expect.arrayContaining(Object.keys(given)));
      expect(given.workflow).toBeDefined();
    }
  });

  test('what strangers or agents write is never a part of a script', () => {
    for (const run of scripts(workflow))
      for (const [, expression = ''] of run.matchAll(/\$\{\{\s*(.*?)\s*\}\}/g))
        expect(expression).toMatch(/^(?:matrix\.[a-z]+|github\.run_id)$/);
  });

  test('every script is one that bash can read', () => {
    for (const run of scripts(workflow)) {
      const input = run.replaceAll(/\$\{\{.*?\}\}/g, 'x').replaceAll('<package>', 'x');
      expect(spawnSync('bash', ['-n'], { input, encoding: 'utf8' }).stderr).toBe('');
    }
  });

  test('a job that has secrets does not work on the files of a fork', () => {
    expect(text).not.toMatch(/^\s*pull_request_target:/m);
    for (const job of jobs) {
      const hasSecrets = JSON.stringify(job).includes('secrets.');
      if (hasSecrets && 'pull_request' in workflow.on)
        expect(job.if).toContain(
          'github.event.pull_request.head.repo.full_name == github.repository',
        );
    }
  });

  test('every job says what its token may do, and one with an agent may only read', () => {
    for (const { permissions = workflow.permissions, steps } of jobs) {
      expect(permissions).toBeDefined();
      if (steps.some(({ uses }) => uses?.startsWith('raymond-workflows/raymond')))
        expect(Object.values(permissions ?? {})).toEqual(['read']);
    }
  });

  test('needs and outputs lead to jobs and steps that exist', () => {
    for (const { needs = [], outputs = {}, steps } of jobs) {
      for (const name of [needs].flat()) expect(Object.keys(workflow.jobs)).toContain(name);
      const ids = steps.map(({ id }) => id);
      for (const value of Object.values(outputs))
        expect(ids).toContain(/steps\.([a-z]+)\.outputs/.exec(value)?.[1]);
    }
  });
});
