import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ownModel } from './own-model.ts';

const settings = (model: unknown) => JSON.stringify({ model });

it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string]>([
  ['nothing is set', {}, {}, 'default'],
  ['settings cannot be read', { 'config/settings.json': '{' }, {}, 'default'],
  ['settings are odd', { 'config/settings.json': settings(7) }, {}, 'default'],
  ['the user’s settings', { 'config/settings.json': settings('a') }, {}, 'a'],
  [
    'the project’s settings win',
    { 'config/settings.json': settings('a'), 'work/.claude/settings.json': settings('b') },
    {},
    'b',
  ],
  [
    'the local ones win over these',
    {
      'work/.claude/settings.json': settings('b'),
      'work/.claude/settings.local.json': settings('c'),
    },
    {},
    'c',
  ],
  [
    'the environment wins over all',
    { 'config/settings.json': settings('a') },
    { ANTHROPIC_MODEL: 'd' },
    'd',
  ],
])('%s', (_, files, environment, model) => {
  const root = mkdtempSync(join(tmpdir(), 'raymond-own-model-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(ownModel(environment, join(root, 'config'), join(root, 'work'))).toBe(model);
});
