// Some users start Claude Code through their own scripts, for example for a second account. Its
// transcripts are then not in the folder that the environment names.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { claudeBinary, suiteAges } from './claude-sandbox.ts';
import {
  answering,
  bash,
  conversationLines,
  eventsOf,
  killHard,
  sandboxes,
  until,
} from './raymond-sandbox.ts';
import { faults, type Reply } from './scripted-model.ts';

const sandbox = sandboxes();

// Both versions know its price: 5 USD for a million tokens of input.
const model = 'claude-opus-4-5';
const costing = (content: string): Reply => ({
  content,
  usage: { input_tokens: 50_000, output_tokens: 0 },
});

const workflow = {
  'START.md': 'Do one.',
  'TWO.md': 'Do two.',
  'SUB.md': 'Look into it.',
  'BACK.md': 'It was {{result}}.',
};

/** A wrapper that uses another configuration folder; with `hides`, the agent does not report it. */
async function wrapped(
  age: (typeof suiteAges)[number],
  hides: boolean,
  script: Parameters<typeof answering>[0],
) {
  const world = await sandbox({
    age,
    workflow,
    script: answering(script),
    environment: { RAYMOND_CLAUDE: './wrapper', CLAUDE_CODE_MAX_RETRIES: '0' },
  });
  const second = join(world.claude.configFolder, '..', 'second account');
  await mkdir(second);
  const settings = { permissions: { allow: ['Bash'] } };
  await writeFile(join(second, 'settings.json'), JSON.stringify(settings));
  const lines = [
    '#!/bin/sh',
    `export CLAUDE_CONFIG_DIR='${second}'`,
    ...(hides ? ['export CLAUDE_CODE_DISABLE_AUTO_MEMORY=1'] : []),
    `exec '${claudeBinary(age)}' "$@"`,
  ];
  await writeFile(world.file('wrapper'), `${lines.join('\n')}\n`, { mode: 0o755 });
  return world;
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  describe.each(
    inSuite<{ how: string; hides: boolean; flags: readonly string[] }>(
      [{ how: 'it does not say where', hides: true, flags: ['--no-warm'] }],
      [{ how: 'it says where', hides: false, flags: [] }],
    ),
  )('and $how its transcripts are', ({ hides, flags }) => {
    test(`every turn is paid once, and the model sees no prompt twice ${flags.join('')}`, async () => {
      const {
        run,
        model: asked,
        journal,
      } = await wrapped(age, hides, {
        'Do one.': costing('<goto>TWO</goto>'),
        'Do two.': [faults.internal, faults.overloaded, costing('<call return="BACK">SUB</call>')],
        'Look into it.': costing('<result>found</result>'),
        'It was': [faults.internal, costing('<result>done</result>')],
      });
      const args = ['--workflow-id', 'r', '--model', model, ...flags];
      expect(await run('workflow', ...args)).toMatchObject({ code: 0, stdout: 'done\n' });
      const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost.usd.toFixed(4));
      expect(costs).toEqual(Array(4).fill('0.2500'));
      const caller = [
        'user: Do one.',
        'assistant: <goto>TWO</goto>',
        'user: Do two.',
        'assistant: <call return="BACK">SUB</call>',
      ];
      expect(conversationLines(asked.requests.at(-1))).toEqual([...caller, 'user: It was found.']);
      for (const request of asked.requests) {
        const prompts = conversationLines(request).filter((line) => line.startsWith('user: '));
        expect(new Set(prompts).size).toBe(prompts.length);
      }
    });

    test('an agent that was killed continues where it was, and each turn is paid once', async () => {
      const {
        start,
        run,
        file,
        model: asked,
        journal,
        processes,
      } = await wrapped(age, hides, {
        'Do one.': costing('<goto>TWO</goto>'),
        'Do two.': bash('touch begun; sleep 300'),
        'You were interrupted': [faults.internal, costing('<result>done</result>')],
      });
      const first = start('workflow', '--workflow-id', 'r', '--model', model);
      await until(() => existsSync(file('begun')));
      await killHard(first.child);
      process.kill(-(processes().at(-1) ?? 0), 'SIGKILL');
      expect(await run('resume', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
      const lines = conversationLines(asked.requests.at(-1));
      const asksOnce = (text: string) => lines.filter((line) => line.includes(text)).length === 1;
      expect(['Do one.', 'Do two.', 'You were interrupted'].filter(asksOnce)).toHaveLength(3);
      const costs = eventsOf(journal('r'), 'step-ended').map(({ cost }) => cost.usd.toFixed(4));
      expect(costs).toEqual(['0.2500', '0.2500']);
    });
  });
});
