import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { answering, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

test.each(inSuite<[readonly string[]]>([[[]]], [[['--no-warm']]]))(
  'each turn has its own file in the debug folder %j',
  async (flags) => {
    const { run, file } = await sandbox({
      age: 'newer',
      workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
      script: answering({ 'Do one.': '<goto>TWO</goto>', 'Do two.': '<result>done</result>' }),
    });
    const { code, stderr } = await run('workflow', '--workflow-id', 'r', ...flags);
    expect(code).toBe(0);
    expect(stderr).not.toContain('debug folder');
    const [folder = ''] = readdirSync(file('.raymond/debug'));
    const kept = (name: string) => readFileSync(join(file('.raymond/debug'), folder, name), 'utf8');
    expect(resultsIn(kept('main_START_001.json'))).toEqual(['<goto>TWO</goto>']);
    expect(resultsIn(kept('main_TWO_002.json'))).toEqual(['<result>done</result>']);
  },
);

function resultsIn(output: string): readonly unknown[] {
  const messages: readonly { readonly type: string; readonly result?: string }[] =
    JSON.parse(output);
  return messages.filter(({ type }) => type === 'result').map(({ result }) => result);
}
