// A workflow that compacts at every depth of the stack, and what its model must have seen.
/** In the main agent, in a callee, in a function of it, in a child agent, after a join and after an answer. */
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
  'WORK.md': 'Work on {{item}}.',
  'WORK2.md': 'Finish {{item}}.',
  'JOINED.md': 'All are back.',
  'ASKING.md': 'May we?',
  'ANSWERED.md': 'They said {{result}}.',
  'LAST.md': 'Close it.',
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
  'Home with depth.': FORK,
  'Work on a.': '<compact>WORK2</compact>',
  'Hand over at WORK': 'notes of work',
  'Finish a.': '<result>w</result>',
  'All are back.': '<compact>ASKING</compact>',
  'Hand over at JOINED': 'notes of the join',
  'May we?': '<ask next="ANSWERED">Go?</ask>',
  'They said yes.': '<compact>LAST</compact>',
  'Hand over at ANSWERED': 'notes of the answer',
  'Close it.': '<result>all done</result>',
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
const home = [...one, ...said('Home with depth.')];
const asking = received('notes of the join', 'May we?');

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
  [user('Work on a.')],
  [...said('Work on a.'), user('Hand over at WORK.md.')],
  [user(work2)],
  [...home, user('All are back.')],
  [...home, ...said('All are back.'), user('Hand over at JOINED.md.')],
  [user(asking)],
  [...said('May we?', asking), user('They said yes.')],
  [...said('May we?', asking), ...said('They said yes.'), user('Hand over at ANSWERED.md.')],
  [user(received('notes of the answer', 'Close it.'))],
];

/** For comparisons of runs whose agents work beside each other. */
export const inAnyOrder = (seen: readonly (readonly string[])[]): readonly string[] =>
  seen.map((lines) => lines.join('\n')).sort();
