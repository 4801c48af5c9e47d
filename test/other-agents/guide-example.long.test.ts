// The workflow of the guide, taken by the three real agents that it names.
import { expect, onTestFinished, test } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { answering, eventsOf } from '../real-agent/raymond-sandbox.ts';
import { play } from './acp-play.ts';
import { codexSandbox } from './codex-sandbox.ts';
import { scriptedResponses } from './scripted-responses.ts';

const { blocks, plays } = readDocument('docs/guide/agents.md');
const FOLDER = 'build/';

test('the agents of the guide plan, implement and review, and pass on what they found', async () => {
  const workflow = Object.fromEntries(
    blocks.flatMap(({ file, text }) =>
      file?.startsWith(FOLDER) ? [[file.slice(FOLDER.length), text]] : [],
    ),
  );
  const note = plays.find((one) => one.workflow === 'build');
  const given = (state: string) => note?.answers.get(state) ?? [];
  const inTurn = (state: string) => {
    const answers = [...given(state)];
    return () => answers.shift() ?? '';
  };
  const responses = await scriptedResponses(inTurn('WORK'));
  const codex = await codexSandbox(responses.url);
  onTestFinished(async () => {
    await responses.close();
    await codex.remove();
  });
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const { raymond } = await play(
    'opencode',
    workflow,
    inTurn('REVIEW'),
    answering({ 'plan this change': given('START') }),
    environment,
  );
  const input = note?.expected.get('input') ?? '';
  const finished = await raymond.run('workflow', '--input', input, '--workflow-id', 'guide');
  expect(finished).toMatchObject({ code: 0, stdout: `${note?.expected.get('result')}\n` });
  const taken = eventsOf(raymond.journal('guide'), 'step-started');
  expect(taken.map(({ state }) => state.replace('.md', '')).join(' ')).toBe(
    note?.expected.get('path'),
  );
  expect(taken.map(({ executor }) => executor)).toEqual([
    ...['claude', 'codex', 'opencode', 'codex', 'opencode'],
  ]);
  // Each turn begins a new session, with what the state before it has passed on.
  const asked = responses.requests.map(({ lines }) => lines);
  expect(asked.map((lines) => lines.length)).toEqual([1, 1]);
  expect(asked[1]?.[0]).toContain('repair the test');
});
