// Checks what the model remembers and costs when an agent joins its children.
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { suiteAges } from './claude-sandbox.ts';
import { answering, conversationLines, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.each(
    inSuite<{ how: string; flags: readonly string[] }>(
      [{ how: 'kept warm', flags: [] }],
      [{ how: 'one process per prompt', flags: ['--no-warm', '--max-parallel', '1'] }],
    ),
  )('a parent that joins keeps its conversation ($how)', async ({ flags }) => {
    const { run, model } = await sandbox({
      age,
      workflow: {
        'START.md': 'Plan it.',
        'WORK.md': 'Work on {{item}}.',
        'MERGE.md': 'Merge {{result}}.',
        'END.md': 'Anything else?',
      },
      script: answering({
        'Plan it.': '<fork item="a">WORK</fork><fork item="b">WORK</fork><join>MERGE</join>',
        'Work on a': '<result>A</result>',
        'Work on b': '<result>B</result>',
        Merge: '<join>END</join>',
        'Anything else?': '<result>merged</result>',
      }),
    });
    const { code, stdout, events } = await run('workflow', '--json', ...flags);
    expect(code, stdout).toBe(0);
    const report = events.find((event) => event.type === 'join-reported');
    const rows: readonly Record<string, unknown>[] = JSON.parse(
      report?.type === 'join-reported' ? report.input : '[]',
    );
    expect(rows).toMatchObject([
      { agent: 'main_work1', status: 'ended', result: 'A', variables: { item: 'a' } },
      { agent: 'main_work2', status: 'ended', result: 'B', variables: { item: 'b' } },
    ]);
    for (const { cost_usd } of rows) expect(cost_usd).toBeGreaterThan(0);

    const conversations = model.requests.map(conversationLines);
    expect(conversations.filter((lines) => lines[0]?.startsWith('user: Work on'))).toHaveLength(2);
    expect(conversations.at(-1)).toEqual([
      'user: Plan it.',
      'assistant: <fork item="a">WORK</fork><fork item="b">WORK</fork><join>MERGE</join>',
      expect.stringMatching(/^user: Merge \[\{"agent":"main_work1",.*"result":"B"/),
      'assistant: <join>END</join>',
      'user: Anything else?',
    ]);
  });
});
