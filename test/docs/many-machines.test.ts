// The commands of docs/guide/many-machines.md, with a real PostgreSQL, and the options of compose.yaml.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';
import { command } from '../command.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { Project } from '../raymond.ts';
import { testConsoles } from './console.ts';
import { readDocument, root } from './documents.ts';
import { type DocumentProject, makeDocumentProject } from './project.ts';

const document = readDocument('docs/guide/many-machines.md');

describe('many machines', () => {
  let reader: DocumentProject;
  const removals: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const url = await newDatabase((remove) => removals.push(remove));
    reader = makeDocumentProject(document, { RAYMOND_DATABASE: url });
  });
  afterAll(async () => {
    await reader?.remove();
    for (const remove of removals) await remove();
  });

  testConsoles(document.blocks, () => reader);
});

const service = z.object({
  image: z.string(),
  build: z.optional(z.object({ context: z.string(), args: z.record(z.string(), z.string()) })),
  environment: z.optional(z.record(z.string(), z.string())),
  env_file: z.optional(z.array(z.string())),
  command: z.optional(z.array(z.string())),
  volumes: z.optional(z.array(z.string())),
  depends_on: z.optional(z.record(z.string(), z.unknown())),
});
const compose = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.unknown()),
});

describe('compose.yaml', () => {
  const text = readFileSync(join(root, 'compose.yaml'), 'utf8');
  const { services, volumes } = z.parse(compose, parse(text, { merge: true }));

  test('names only services and volumes that it defines', () => {
    for (const { volumes: used = [], depends_on: needed = {} } of Object.values(services)) {
      for (const name of Object.keys(needed)) expect(services).toHaveProperty(name);
      for (const volume of used) {
        const [source = ''] = volume.split(':');
        if (!source.startsWith('.')) expect(Object.keys(volumes)).toContain(source);
      }
    }
  });

  test('builds the image of this repository with arguments that it takes, and contains no secret', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    expect(services.worker?.build?.context).toBe('.');
    for (const { build, environment = {} } of Object.values(services)) {
      for (const name of Object.keys(build?.args ?? {}))
        expect(dockerfile).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
      for (const [name, value] of Object.entries(environment))
        if (/PASSWORD|KEY|TOKEN|SECRET/.test(name)) expect(value).toMatch(/^\/run\/secrets\//);
    }
  });

  test('starts Raymond with commands and options that exist', async () => {
    const project = new Project();
    onTestFinished(() => project.dispose());
    for (const { command: words = [] } of Object.values(services)) {
      const [program, name = '', ...args] = words;
      if (program !== 'raymond') continue;
      const help = await command(project, [name, '--help']);
      expect(help.code).toBe(0);
      for (const option of args.filter((word) => word.startsWith('--')))
        expect(help.stdout).toContain(`${option} `);
    }
    expect(services.worker?.command?.slice(0, 2)).toEqual(['raymond', 'worker']);
  });
});
