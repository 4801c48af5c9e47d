import { describe, expect, test } from 'vitest';
import { makeRun, state } from '../../test/make-run.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import { readTags } from '../parse/tags.ts';
import { readMove } from '../parse/transition.ts';
import { policyProblem, reminderText } from './policy.ts';

const targets = { REVIEW: [], DONE: [], W: [], 'POLL.sh': [] };

function policyOf(...entries: readonly string[]) {
  const frontMatter = `allowed_transitions:\n${entries.map((entry) => `  - ${entry}`).join('\n')}`;
  const workflow = makeRun({ START: state(frontMatter), ...targets }).workflows('/flow');
  const start = workflow && [...workflow.states.values()].find(({ name }) => name === 'START.md');
  if (!workflow || start?.kind !== 'prompt' || !start.policy.allowed) throw new Error('no policy');
  return { workflow, allowed: start.policy.allowed };
}

function problem(entries: readonly string[], text: string): string | undefined {
  const { workflow, allowed } = policyOf(...entries);
  const reading = readTags(text, { code: 'ignored' });
  const move = readMove(reading, tagChoices(workflow.agents));
  if (!move.ok) throw new Error(move.message);
  return policyProblem(workflow, allowed, reading.tags);
}

const GOTO = '{ tag: goto, target: REVIEW }';
const CALL = '{ tag: call, target: REVIEW.md, return: DONE }';
const FORK = '{ tag: fork, target: W, next: DONE }';
const OPEN_FORK = '{ tag: fork, target: W }';
const JOIN = '{ tag: join, target: DONE, failed_next: REVIEW }';
const JOIN_TEXT = '<join failed_next="REVIEW">DONE</join>';
const SIGNED = '{ tag: ask, next: DONE, of: 2, to: release }';
const ASK = '{ tag: ask, next: DONE, timeout: 1h, timeout_next: REVIEW }';

describe('allowed', () => {
  test.each([
    ['the same', [GOTO], '<goto>REVIEW</goto>'],
    ['REVIEW equals REVIEW.md', [GOTO], '<goto> REVIEW.md </goto>'],
    ['REVIEW.md equals REVIEW', [CALL], '<call return="DONE.md">REVIEW</call>'],
    ['a script by its stem', ['{ tag: goto, target: POLL.sh }'], '<goto>POLL</goto>'],
    ['one of several', [GOTO, CALL], '<call return="DONE">REVIEW</call>'],
    ['a data attribute that is not mentioned', [GOTO], '<goto input="anything">REVIEW</goto>'],
    ['a variable that is not mentioned', [FORK], '<fork next="DONE" item="1">W</fork>'],
    [
      'a variable that is pinned',
      ['{ tag: fork, target: W, next: DONE, item: a }'],
      '<fork next="DONE" item="a">W</fork>',
    ],
    ['any payload', ['{ tag: result }'], '<result>anything</result>'],
    ['the payload', ['{ tag: result, payload: "YES" }'], '<result> YES\n</result>'],
    [
      'a question, with next and timeout_next resolved',
      [ASK],
      '<ask next="DONE.md" timeout="1h" timeout_next="REVIEW.md">?</ask>',
    ],
    ['several forks', [FORK], '<fork next="DONE">W</fork><fork next="DONE" item="2">W</fork>'],
    ['forks that share one next', [FORK], '<fork>W</fork><fork next="DONE.md">W.md</fork>'],
    [
      'forks with a goto that has its own entry',
      [OPEN_FORK, GOTO],
      '<fork>W</fork><fork i="2">W</fork><goto>REVIEW.md</goto>',
    ],
    ['a join', [JOIN], '<join failed_next="REVIEW.md">DONE.md</join>'],
    [
      'the usual of and rest, written out',
      [JOIN],
      JOIN_TEXT.replace('join', 'join of=" all " rest="stop"'),
    ],
    [
      'the pinned of and rest',
      ['{ tag: join, target: DONE, of: 2, rest: continue }'],
      '<join rest="continue" of="2">DONE</join>',
    ],
    [
      'the same deadline in another unit',
      ['{ tag: ask, next: DONE, timeout: 1d, timeout_next: REVIEW }'],
      '<ask timeout_next="REVIEW" timeout="24h" next="DONE">?</ask>',
    ],
    [
      'variables with names that other tags reserve',
      [FORK],
      '<fork next="DONE" timeout="9s" of="any" return="W" failed_next="W">W</fork>',
    ],
    ['forks with a join', [OPEN_FORK, JOIN], `<fork>W</fork><fork item="2">W</fork>${JOIN_TEXT}`],
  ])('%s', (_, entries, text) => expect(problem(entries, text)).toBeUndefined());
});

describe('forbidden', () => {
  test.each([
    ['another target', [GOTO], '<goto>DONE</goto>'],
    ['another tag', [GOTO], '<reset>REVIEW</reset>'],
    ['another return', [CALL], '<call return="REVIEW">REVIEW</call>'],
    [
      'another variable',
      ['{ tag: fork, target: W, next: DONE, item: a }'],
      '<fork next="DONE" item="b">W</fork>',
    ],
    [
      'a pinned variable left out',
      ['{ tag: fork, target: W, next: DONE, item: a }'],
      '<fork next="DONE">W</fork>',
    ],
    ['a pinned input left out', ['{ tag: goto, target: REVIEW, input: x }'], '<goto>REVIEW</goto>'],
    ['another payload', ['{ tag: result, payload: "YES" }'], '<result>NO</result>'],
    ['another next', [FORK], '<fork next="REVIEW">W</fork>'],
    ['one bad fork among good ones', [FORK], '<fork next="DONE">W</fork><fork>REVIEW</fork>'],
    ['a goto that is not the pinned next', [FORK, GOTO], '<fork>W</fork><goto>REVIEW</goto>'],
    ['a goto beside forks that has no entry', [OPEN_FORK, JOIN], '<fork>W</fork><goto>DONE</goto>'],
    [
      'a goto in place of a pinned next',
      [FORK, '{ tag: goto, target: DONE }'],
      '<fork>W</fork><goto>DONE</goto>',
    ],
    [
      'a next that the entry of the fork does not have',
      [OPEN_FORK, GOTO],
      '<fork next="REVIEW">W</fork>',
    ],
    [
      'a next that only another fork may have',
      [OPEN_FORK, '{ tag: fork, target: REVIEW, next: DONE }', GOTO],
      '<fork>W</fork><fork next="DONE">REVIEW</fork>',
    ],
    ['the next of forks as a goto without forks', [FORK], '<goto>DONE</goto>'],
    [
      'a deadline that the entry does not have',
      ['{ tag: ask, next: DONE }'],
      '<ask next="DONE" timeout="1s" timeout_next="DONE">?</ask>',
    ],
    ['another next of a question', ['{ tag: ask, next: DONE }'], '<ask next="REVIEW">?</ask>'],
    ['fewer signatures', [SIGNED], '<ask next="DONE" of="1" to="release">?</ask>'],
    ['signatures of others', [SIGNED], '<ask next="DONE" of="2" to="friends">?</ask>'],
    ['no signatures', [SIGNED], '<ask next="DONE">?</ask>'],
    ['signatures of its own', ['{ tag: ask, next: DONE }'], '<ask next="DONE" to="me">?</ask>'],
    ['no deadline where the entry has one', [ASK], '<ask next="DONE">?</ask>'],
    ['a shorter deadline', [ASK], '<ask timeout_next="REVIEW" next="DONE" timeout="1s">?</ask>'],
    [
      'a failed_next that the entry does not have',
      ['{ tag: join, target: DONE }'],
      '<join failed_next="DONE">DONE</join>',
    ],
    [
      'a deadline of a join',
      ['{ tag: join, target: DONE }'],
      '<join timeout="1s" timeout_next="DONE">DONE</join>',
    ],
    ['a join that waits for fewer', ['{ tag: join, target: DONE }'], '<join of="1">DONE</join>'],
    ['a join that waits for any', ['{ tag: join, target: DONE }'], '<join of="any">DONE</join>'],
    [
      'a join that lets the rest work',
      ['{ tag: join, target: DONE }'],
      '<join rest="continue">DONE</join>',
    ],
    [
      'the return of another entry',
      [CALL, '{ tag: call, target: W, return: REVIEW }'],
      '<call return="REVIEW">REVIEW</call>',
    ],
    ['another extension', ['{ tag: goto, target: REVIEW.md }'], '<goto>REVIEW.sh</goto>'],
    ['another case', [GOTO], '<goto>review</goto>'],
    [
      'another workflow',
      ['{ tag: reset-workflow, path: ../w }'],
      '<reset-workflow>../w/DONE</reset-workflow>',
    ],
    [
      'another return of a workflow',
      ['{ tag: call-workflow, path: ../w, return: DONE }'],
      '<call-workflow return="REVIEW">../w</call-workflow>',
    ],
    [
      'a next of a workflow',
      ['{ tag: fork-workflow, path: ../w }', GOTO],
      '<fork-workflow next="REVIEW">../w</fork-workflow>',
    ],
    ['another timeout', [ASK], '<ask next="DONE" timeout="2h" timeout_next="REVIEW">?</ask>'],
    ['a join with another target', [JOIN], '<join failed_next="REVIEW">W</join>'],
    ['a join with another failed_next', [JOIN], '<join failed_next="DONE">DONE</join>'],
    ['a join without the pinned failed_next', [JOIN], '<join>DONE</join>'],
    ['a join that no entry has', [OPEN_FORK, GOTO], '<fork>W</fork><join>DONE</join>'],
    ['forks with a join when their next is pinned', [FORK, JOIN], `<fork>W</fork>${JOIN_TEXT}`],
    ['another of', ['{ tag: join, target: DONE, of: any }'], '<join of="2">DONE</join>'],
    ['a state that does not exist', [GOTO], '<goto>NOWHERE</goto>'],
  ])('%s', (_, entries, text) => {
    expect(problem(entries, text)).toMatch(/^<.* is not allowed in this state\.$/);
  });

  test('a long tag is not repeated in full', () => {
    expect(problem([GOTO], `<result>${'x'.repeat(10_000)}</result>`)?.length).toBeLessThan(300);
  });
});

describe('the reminder', () => {
  test('names the fault and lists exactly the allowed tags', () => {
    const { allowed } = policyOf(GOTO, CALL, '{ tag: result, payload: "YES" }');
    expect(reminderText('There is no transition tag.', allowed)).toBe(
      `Your last message did not end this step: There is no transition tag.

End your next message with exactly one of these tags, outside any code block:

    <goto>REVIEW</goto>
    <call return="DONE">REVIEW.md</call>
    <result>YES</result>

Do not repeat work that is done.`,
    );
  });

  test.each([
    ['{ tag: result }', '<result>[your result]</result>'],
    ['{ tag: ask, next: DONE }', '<ask next="DONE">[your question]</ask>'],
    [SIGNED, '<ask next="DONE" of="2" to="release">[your question]</ask>'],
    [ASK, '<ask next="DONE" timeout="1h" timeout_next="REVIEW">[your question]</ask>'],
  ])('%s has a placeholder for each open part', (entry, line) => {
    const text = reminderText('No.', policyOf(entry).allowed);
    expect(text).toContain(`this tag, outside any code block:\n\n    ${line}\n`);
    expect(text).toContain('Replace the parts in [brackets].');
  });

  test.each([
    GOTO,
    '{ tag: function, target: W, return: DONE, model: "opus[1m]" }',
    '{ tag: result, payload: "[x]" }',
  ])('%s has no placeholders', (entry) => {
    expect(reminderText('No.', policyOf(entry).allowed)).not.toContain('[brackets]');
  });

  test.each([GOTO, CALL, FORK, ASK.replace('{ tag: ask,', '{ tag: ask, question: Why,')])(
    'the tag that it lists for %s is allowed',
    (entry) => {
      const { allowed } = policyOf(entry);
      const listed = /^ {4}(.*)$/m.exec(reminderText('No.', allowed))?.[1] ?? '';
      expect(problem([entry], listed)).toBeUndefined();
    },
  );

  test('lists forks and a join as they can be written together', () => {
    const { allowed } = policyOf(OPEN_FORK, JOIN);
    const text = reminderText('No.', allowed);
    expect(text).toContain(
      `exactly one of these tags, or with forks and one join, outside any code block:

    <fork>W</fork>
    <join failed_next="REVIEW">DONE</join>
`,
    );
    expect(text).toContain('A fork without next needs one join beside it.');
    const listed = [...text.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line).join('\n');
    expect(problem([OPEN_FORK, JOIN], listed)).toBeUndefined();
  });

  test('says which tags may stand beside forks', () => {
    const text = reminderText('No.', policyOf(OPEN_FORK, GOTO, JOIN).allowed);
    expect(text).toContain('or with forks and one goto or join, outside');
    expect(text).toContain('A fork without next needs one goto or join beside it.');
  });

  test('says that several forks are allowed', () => {
    expect(reminderText('No.', policyOf(FORK).allowed)).toContain('You may write several forks');
  });
});
