/** What tags and their attributes mean, in a sentence each, for editors. */
import type { TagName } from '../model/tag.ts';

export const TAG_MEANINGS: Readonly<Record<TagName, string>> = {
  goto: 'Continues at the state, in the same session.',
  reset: 'Continues at the state, in a new session. The return stack stays.',
  compact: 'Continues at the state in a new session that begins with a handover of this one.',
  call: 'Runs the state in a copy of this session, and then continues at `return` with its result.',
  function:
    'Runs the state in a new session, and then continues at `return` in this one with its result.',
  fork: 'Starts a child agent at the state. The parent continues at `next`, or at a goto or a join beside the forks.',
  join: 'Waits for the child agents, and then continues at the state with an array of their results.',
  ask: 'Asks a person, and continues at `next` with the answer.',
  result: 'Returns the text to the caller. Without a caller, the agent ends with it.',
  'call-workflow': 'Calls another workflow in a copy of this session.',
  'function-workflow': 'Calls another workflow in a new session.',
  'fork-workflow': 'Starts a child agent in another workflow.',
  'reset-workflow': 'Continues in another workflow, in a new session. The return stack is cleared.',
};

/** The attributes that Raymond defines. Others are variables of a child, or choices for an agent. */
export const ATTRIBUTE_MEANINGS: Readonly<Record<string, string>> = {
  return: 'The state that continues with the result.',
  next: 'The state that continues: with the answer after an ask, beside the children after a fork.',
  input: 'The value that the target receives.',
  cd: 'The directory in which the agent continues.',
  worktree: 'Gives the child a git worktree with this name; `true` names it after the child.',
  base: 'The commit from which the worktree starts.',
  of: 'How many: the children that a join waits for (`all`, `any` or a number), or the people who must sign.',
  to: 'The list of the people who must sign.',
  timeout: 'How long to wait, such as `30m` or `24h`.',
  timeout_next: 'The state that continues when the time is over.',
  failed_next: 'The state that continues when a child failed.',
  rest: 'Whether the remaining children `stop` or `continue`.',
  files: 'The files that the question shows, separated by commas.',
  accept: 'The endings of the files that may come with the answer, such as `pdf,png`.',
};
