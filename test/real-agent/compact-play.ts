// A workflow that compacts at every depth of the stack, and what its model must have seen.
import { expect } from 'vitest';
import { inSuite, isLong } from '../long.ts';
import { eventsOf, killHard, type RaymondSandbox, until } from './raymond-sandbox.ts';

/**
 * In a callee, in a function of it, after their results, in a child agent, after a join and after an answer.
 * Sessions that began with a handover call, are called, fork, join, ask and hand over again.
 */
export const COMPACTING = {
  'workflow.yaml': 'handover: NOTES\n',
  'NOTES.md': 'Hand over at {{state}}.',
  'START.md': 'Do one.',
  'SUB.md': 'Look into it.',
  'MORE.md': 'Look deeper with {{handover}}.',
  'FN.md': 'Think of {{input}}.',
  'FN2.md': 'Think on.',
  'AFTER.md': 'It gave {{result}}.',
  'BACK.md': 'Home with {{result}}.',
  'SPLIT.md': 'Split it.',
  'WORK.md': 'Work on {{item}}.',
  'WORK2.md': 'Finish {{item}}.',
  'JOINED.md': 'All are back.',
  'ASKING.md': 'May we?',
  'ANSWERED.md': 'They said {{result}}.',
  'LAST.md': 'Close it.',
  'CHECK.md': 'Check it.',
  'CLOSED.md': 'It is {{result}}.',
};

const FORK = '<fork item="a">WORK</fork><join>JOINED</join>';

/** The answers to each prompt. */
export const SAYS = {
  'Do one.': '<call return="BACK">SUB</call>',
  'Look into it.': '<compact>MORE</compact>',
  'Hand over at SUB': 'notes of sub',
  'Look deeper': '<function return="AFTER" input="x">FN</function>',
  'Think of x.': '<compact>FN2</compact>',
  'Hand over at FN': 'notes of fn',
  'Think on.': '<result>ideas</result>',
  'It gave ideas.': '<result>depth</result>',
  'Home with depth.': '<compact>SPLIT</compact>',
  'Hand over at BACK': 'notes of the way back',
  'Split it.': FORK,
  'Work on a.': '<compact>WORK2</compact>',
  'Hand over at WORK': 'notes of work',
  'Finish a.': '<result>w</result>',
  'All are back.': '<compact>ASKING</compact>',
  'Hand over at JOINED': 'notes of the join',
  'May we?': '<ask next="ANSWERED">Go?</ask>',
  'They said yes.': '<compact>LAST</compact>',
  'Hand over at ANSWERED': 'notes of the answer',
  'Close it.': '<call return="CLOSED">CHECK</call>',
  'Check it.': '<result>fine</result>',
  'It is fine.': '<result>all done</result>',
} as const;

const user = (text: string) => `user: ${text}`;
const said = (prompt: keyof typeof SAYS, written: string = prompt) => [
  user(written),
  `assistant: ${SAYS[prompt]}`,
];
const received = (notes: string, prompt: string) =>
  `An earlier conversation about this work has ended. This is what it left for you:\n\n<handover>\n${notes}\n</handover>\n\n${prompt}`;

const one = said('Do one.');
const deeper = said('Look deeper', 'Look deeper with notes of sub.');
const work2 = received('notes of work', 'Finish a.');
const split = said('Split it.', received('notes of the way back', 'Split it.'));
const asking = received('notes of the join', 'May we?');
const close = said('Close it.', received('notes of the answer', 'Close it.'));

/** The messages of every request, in the order of the requests. */
export const SEEN: readonly (readonly string[])[] = [
  one.slice(0, 1),
  [...one, user('Look into it.')],
  [...one, ...said('Look into it.'), user('Hand over at SUB.md.')],
  deeper.slice(0, 1),
  [user('Think of x.')],
  [...said('Think of x.'), user('Hand over at FN.md.')],
  [user(received('notes of fn', 'Think on.'))],
  [...deeper, user('It gave ideas.')],
  [...one, user('Home with depth.')],
  [...one, ...said('Home with depth.'), user('Hand over at BACK.md.')],
  split.slice(0, 1),
  [user('Work on a.')],
  [...said('Work on a.'), user('Hand over at WORK.md.')],
  [user(work2)],
  [...split, user('All are back.')],
  [...split, ...said('All are back.'), user('Hand over at JOINED.md.')],
  [user(asking)],
  [...said('May we?', asking), user('They said yes.')],
  [...said('May we?', asking), ...said('They said yes.'), user('Hand over at ANSWERED.md.')],
  close.slice(0, 1),
  [...close, user('Check it.')],
  [...close, user('It is fine.')],
];

/** For comparisons of runs whose agents work beside each other. */
export const inAnyOrder = (seen: readonly (readonly string[])[]): readonly string[] =>
  seen.map((lines) => lines.join('\n')).sort();

/** A sandbox with this workflow, and the messages of the requests to its model so far. */
interface Compacting extends Pick<RaymondSandbox, 'start' | 'run' | 'journal'> {
  readonly seen: () => readonly (readonly string[])[];
}

/** Raymond is killed after everything that it records. The model sees the same, and is paid once. */
export async function killedPlay(
  { start, run, journal, seen }: Compacting,
  ...flags: readonly string[]
): Promise<void> {
  const isOver = () => eventsOf(journal('r'), 'run-ended').length > 0;
  const own = () => journal('r').filter(({ type }) => type !== 'run-resumed').length;
  let kills = 0;
  let life = start('workflow', '--workflow-id', 'r', ...flags);
  // Each life decides something and is killed as soon as that is in the journal; in the suite, after some more.
  const more = isLong ? 0 : 3;
  for (let before = 0; !isOver(); before = own()) {
    await until(() => own() > before + more || isOver());
    if (isOver()) break;
    await killHard(life.child);
    kills += 1;
    life = start('resume', 'r');
  }
  await life.finished;
  expect(kills).toBeGreaterThan(isLong ? 12 : 4);
  const answered = await run('resume', 'r', '--input', 'yes');
  expect(answered, answered.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
  expect(inAnyOrder(seen())).toEqual(inAnyOrder(SEEN));
  expect(eventsOf(journal('r'), 'step-ended')).toHaveLength(SEEN.length);
}

/** Steps for a rewind: handovers at different depths, and sessions that began with one. */
export const REWOUND = inSuite(
  ['All are back.'],
  ['Hand over at ANSWERED', 'Hand over at FN', 'Look deeper with'],
);
/** The same for an agent that cannot go back in a conversation: each begins one, and nobody waits for a result. */
export const REWOUND_TO_BEGIN = inSuite(['Close it.'], ['May we?', 'Split it.']);

/** After a rewind to a step, the model is asked again with the history of that step, and so on to the end. */
export async function rewoundPlay(
  { run, journal, seen }: Compacting,
  rewound: readonly string[],
): Promise<void> {
  const steps = eventsOf(journal('r'), 'step-started').slice(0, SEEN.length);
  const places = rewound.map((words) => SEEN.findIndex((lines) => lines.at(-1)?.includes(words)));
  // The last one first: a rewind abandons all later steps.
  for (const index of places.sort((a, b) => b - a)) {
    const at = steps[index];
    const before = seen().length;
    const back = await run('rewind', 'r', '--to', `${at?.agent}:${at?.step}`, '--yes');
    expect(back, back.stderr).toMatchObject({ code: 0 });
    const again = await run('resume', 'r');
    if (again.code === 2) await run('resume', 'r', '--input', 'yes');
    else expect(again, again.stderr).toMatchObject({ code: 0, stdout: 'all done\n' });
    expect(inAnyOrder(seen().slice(before))).toEqual(inAnyOrder(SEEN.slice(index)));
  }
}
