/** Runs of the templates in memory: what their agents, scripts, checks and people say, and how often. */
export interface Game {
  readonly template: string;
  /** The files of a workflow that is no template. */
  readonly files?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The answers of each state of each agent, in order. The last one repeats. */
  readonly answers: Readonly<Record<string, string | readonly string[]>>;
  /** The exit codes of checks, in order, by agent. Otherwise they succeed. */
  readonly exits?: Readonly<Record<string, readonly number[]>>;
  readonly replies?: readonly string[];
}

const REVIEW = '<function return="DECIDE">REVIEW</function>';
const ASK_REVIEW = '<function return="VOTE">REVIEW</function>';
const IMPLEMENTED = '<goto>IMPLEMENT</goto>';

export const GAMES: readonly Game[] = [
  {
    template: 'plan-implement-review',
    input: 'Refuse empty passwords',
    answers: {
      START: ['I forgot the tag.', IMPLEMENTED],
      IMPLEMENT: REVIEW,
      REVIEW: ['<result>src/login.ts:12: no test</result>', '<result>APPROVED</result>'],
      DECIDE: [IMPLEMENTED, '<result>Done.</result>'],
    },
  },
  {
    template: 'plan-implement-review',
    answers: {
      START: IMPLEMENTED,
      IMPLEMENT: REVIEW,
      REVIEW: '<result>more</result>',
      DECIDE: IMPLEMENTED,
    },
  },
  {
    template: 'test-until-green',
    input: 'task',
    answers: {
      START: REVIEW,
      REVIEW: ['<result>one</result>', '<result>APPROVED</result>'],
      DECIDE: [REVIEW, '<result>done</result>'],
    },
    exits: { main: [1, 1, 0] },
  },
  {
    template: 'test-until-green',
    input: 'task',
    answers: {
      START: REVIEW,
      REVIEW: '<result>one</result>',
      DECIDE: REVIEW,
      STUCK: '<result>stuck: why</result>',
    },
  },
  {
    template: 'test-until-green',
    input: 'task',
    answers: { START: REVIEW, STUCK: ['stuck', '<result>stuck: red</result>'] },
    exits: { main: [1, 1, 1, 1, 1, 1, 1, 1, 1] },
  },
  {
    template: 'research',
    input: 'Why?',
    answers: {
      START: '<goto>NEXT</goto>',
      NEXT: [
        '<function return="NEXT" input="When?">ANSWER</function>',
        '<call return="NEXT" input="Why not earlier?">ANSWER</call>',
        '<function return="WRITE">VERIFY</function>',
      ],
      ANSWER: ['<result>In 1829.</result>', '<result>The law.</result>'],
      VERIFY: '<result>1829: confirmed</result>',
      WRITE: '<result>Because of a law.</result>',
    },
    exits: { main: [1, 0] },
  },
  {
    template: 'research',
    input: 'Taste?',
    answers: { START: '<result>That is a matter of taste.</result>' },
  },
  {
    template: 'parallel-fixes',
    answers: {
      START:
        '<fork worktree="true" task="a">FIX</fork><fork worktree="true" task="b">FIX</fork><join failed_next="FAILED" timeout="4h" timeout_next="FAILED" rest="stop">MERGE</join>',
      FIX: '<result>fixed</result>',
      MERGE: ['<goto input="branch">CONFLICT</goto>', '<goto>FINISH</goto>'],
      CONFLICT: '<goto>MERGE</goto>',
      FINISH: '<result>done</result>',
    },
    exits: { main: [1, 0, 0, 0] },
  },
  {
    template: 'parallel-fixes',
    answers: {
      START:
        '<fork worktree="true" task="a">FIX</fork><fork worktree="true" task="b">FIX</fork><join failed_next="FAILED">MERGE</join>',
      FIX: '<result>fixed</result>',
      FAILED: '<goto>MERGE</goto>',
      MERGE: '<goto>FINISH</goto>',
      FINISH: '<result>done</result>',
    },
    exits: { main_fix2: [1, 1, 1, 1, 1, 1, 1] },
  },
  {
    template: 'poll-and-process',
    answers: {
      START: [
        '<goto>WAIT</goto>',
        '<function return="DONE" input="inbox">PROCESS</function>',
        '<result>Nothing is left to do.</result>',
      ],
      WAIT: '<goto>START</goto>',
      PROCESS: '<result>done</result>',
      DONE: '<reset>START</reset>',
    },
  },
  {
    template: 'release-approval',
    input: '1.4.0',
    answers: {
      START: '<goto>NOTES</goto>',
      NOTES: '<goto>GATE</goto>',
      GATE: '<ask next="DECIDE" timeout="24h" timeout_next="LATE">Release?</ask>',
      DECIDE: ['<goto input="shorter">NOTES</goto>', '<goto>RELEASE</goto>'],
      RELEASE: '<result>Released 1.4.0.</result>',
    },
    replies: ['shorter', 'yes'],
  },
  {
    template: 'release-approval',
    input: '1.4.0',
    answers: {
      START: '<goto>NOTES</goto>',
      NOTES: '<goto>GATE</goto>',
      GATE: '<ask next="DECIDE" timeout="24h" timeout_next="LATE">Release?</ask>',
      LATE: '<result>Not released.</result>',
    },
  },
  {
    template: 'review-by-three',
    answers: {
      START:
        '<fork reviewer="opus" change="c">REVIEWER</fork><fork reviewer="sonnet" change="c">REVIEWER</fork><fork reviewer="haiku" change="c">REVIEWER</fork><join of="2" failed_next="NO_VERDICT" timeout="30m" timeout_next="NO_VERDICT" rest="stop">VERDICT</join>',
      REVIEWER: ASK_REVIEW,
      REVIEW: '<result>APPROVED</result>',
      VOTE: '<result>vote</result>',
      VERDICT: '<goto input="reviews">COMPARE</goto>',
      COMPARE: '<result>findings</result>',
    },
  },
  {
    template: 'nightly-updates',
    answers: {
      START: '<goto>CHECK</goto>',
      CHECK: [
        '<function return="CHECK">REPAIR</function>',
        '<function return="CHECK">REPAIR</function>',
        '<result>updates</result>',
      ],
      REPAIR: '<result>adapted</result>',
    },
  },
  {
    template: 'issue-triage',
    input: '{}',
    answers: {
      START: '<function return="LABEL" input="text">TRIAGE</function>',
      TRIAGE: ['<result>a bug</result>', '<result>bug</result>'],
      LABEL: '<result>#1: bug</result>',
    },
  },
  {
    template: 'inbox-folder',
    input: 'inbox/a.md',
    answers: {
      START: '<function return="LOG" input="text">WORK</function>',
      WORK: '<result>did it</result>',
      LOG: '<result>a.md: did it</result>',
    },
  },
  {
    template: 'nightly-maintenance',
    answers: {
      START: ['<reset>START</reset>', '<reset>START</reset>', '<goto>CHORES</goto>'],
      CHORES: ['<goto>BRANCH</goto>', '<result>report</result>'],
      BRANCH: '<function return="CHORES">REPAIR</function>',
      REPAIR: '<result>repaired</result>',
    },
    exits: { main: [1, 0] },
  },
  {
    template: 'everything',
    files: {
      'START.md':
        '---\nallowed_transitions:\n  - { tag: compact, target: WORK }\n  - { tag: result }\n---\nStart {{input}}.',
      'WORK.md': [
        '---',
        'allowed_transitions:',
        '  - { tag: goto, target: WORK }',
        '  - { tag: call-workflow, path: other, return: END }',
        '  - { tag: result }',
        'evaluators:',
        '  - { matches: "(?i)unable to", then: { tag: goto, target: GIVE_UP } }',
        '  - { prompt: JUDGE, expect: "YES", then: { tag: goto, target: WORK } }',
        '  - { visits: 9, then: { tag: goto, target: GIVE_UP } }',
        'ensures:',
        '  - { run: make test, on: [call-workflow] }',
        '---',
        'Work on {{handover}}.',
      ].join('\n'),
      'JUDGE.md': 'Judge {{output}} and {{transition}}.',
      'GIVE_UP.md': '---\nallowed_transitions: [{ tag: result }]\n---\nGive up.',
      'END.md':
        '---\nfill: haiku\nallowed_transitions: [{ tag: result, payload: over }]\n---\nEnd {{result}} in {{tone}}.',
      'other/START.md': '---\nallowed_transitions: [{ tag: result }]\n---\nOther.',
    },
    answers: {
      START: '<compact>WORK</compact>',
      WORK: ['<goto>WORK</goto>', '<call-workflow return="END">other</call-workflow>'],
      JUDGE: ['<result>NO</result>', 'perhaps', '<result>YES</result>'],
      END: '<result>over</result>',
      'other/START': '<result>from the other</result>',
    },
    exits: { main: [1, 0] },
  },
];
