import type { Agents, FaultKind } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Position } from '../model/workflow.ts';

export interface LintCode extends FaultKind {
  /** The part that finds it: the loader, the parser, lint itself, or a comparison with finished runs. */
  readonly by: 'load' | 'parse' | 'lint' | 'runs';
}

/** The codes that `raymond lint` can report for workflows of the agents. The reference explains each. */
export function lintCodes(agents: Agents): ReadonlyMap<string, LintCode> {
  const own = agents.all.flatMap(({ faults }) =>
    Object.entries(faults).map(([code, kind]) => [code, { ...kind, by: 'parse' }] as const),
  );
  return new Map<string, LintCode>([...Object.entries(LINT_CODES), ...own]);
}

/** The codes that do not depend on the agent. */
const LINT_CODES = {
  // The start of a workflow.
  'no-entry': error('parse', 'Neither 1_START nor START exists.'),
  'two-entries': error('parse', 'Both 1_START and START exist.'),
  'ambiguous-entry': error('parse', 'More than one file matches the name of the entry.'),
  'no-such-state': error('load', 'The state at which to start does not exist.'),
  // Files.
  'unusable-file': error(
    'load',
    'A file exists but must not be used, for example a link that leaves the source.',
  ),
  'not-utf8': error('parse', 'A file is not UTF-8.'),
  'not-text': error('lint', 'A script contains NUL characters, so it is not text.'),
  'crlf-script': error(
    'lint',
    'A bash script has Windows line endings, which bash reads as part of its commands.',
  ),
  'other-shebang': error(
    'parse',
    'The first line of a script names an interpreter other than bash.',
  ),
  'shebang-options': warning(
    'lint',
    'The first line of a script has options, which have no effect.',
  ),
  'same-stem': warning(
    'lint',
    'Two files differ only in their extension, so the name without it is ambiguous.',
  ),
  // Front matter.
  'late-front-matter': error('parse', 'Front matter is not at the start of its file.'),
  'unclosed-front-matter': error('parse', 'Front matter has no closing line.'),
  yaml: error('parse', 'Front matter, or another YAML text, is not valid YAML.'),
  'unknown-key': warning(
    'parse',
    'A key of front matter, of an evaluator or of a manifest is unknown.',
  ),
  'bad-key': error('parse', 'A key of front matter is not a plain word.'),
  'bad-value': error('parse', 'A value has the wrong type for its key.'),
  'duplicate-lane': warning('parse', 'A list of lanes has the same entry twice.'),
  'empty-list': warning('parse', 'allowed_transitions is empty, so everything is allowed.'),
  'missing-tag': error(
    'parse',
    'An entry of allowed_transitions, or the then of an evaluator, has no tag.',
  ),
  'unknown-tag': error('parse', 'The tag does not exist.'),
  'bad-transition': error(
    'parse',
    'A tag lacks a required part, or has one that it must not have, such as cd on a goto.',
  ),
  'bad-schema': error(
    'parse',
    'The schema of a payload is missing, or is not a JSON Schema that Raymond can check.',
  ),
  'unchecked-format': note('parse', 'A schema has a format, which Raymond does not check.'),
  'force-implicit': error(
    'parse',
    'force_implicit needs exactly one complete transition in allowed_transitions.',
  ),
  // Agents.
  'unknown-agent': error('parse', 'A workflow or a state names an agent that does not exist.'),
  'not-offered': error(
    'parse',
    'The agent of a state does not offer a choice that the state makes.',
  ),
  'cannot-branch': error(
    'lint',
    'A call needs a branch of a session, and its agent cannot branch.',
  ),
  'unknown-cost': warning(
    'lint',
    'The agent of a state reports no cost, so no budget can limit it.',
  ),
  'other-agent': warning(
    'lint',
    'A tag continues or branches a session in a state of another agent, which begins a new session.',
  ),
  'unknown-context': warning(
    'lint',
    'The agent of a state does not report the size of a session, so a limit of the context has no effect.',
  ),
  // Handovers.
  'bad-handover': error('lint', 'The state that asks for a handover is not a prompt.'),
  'misplaced-notes': warning(
    'lint',
    'A prompt uses {{notes_folder}} without notes, or has notes without {{notes_folder}}.',
  ),
  'empty-handover': warning('lint', 'A prompt uses {{handover}}, but no compact leads to it.'),
  // The manifest.
  'misnamed-manifest': error(
    'parse',
    'The name of a file resembles workflow.yaml, so the file has no effect.',
  ),
  'misplaced-limits': error('parse', 'The manifest has limits for a state with front matter.'),
  'unused-key': warning('parse', 'A key has no effect.'),
  // Rights.
  'rights-nowhere': warning(
    'parse',
    'A path that a state may write leads out of the directory of its agent, and so allows nothing.',
  ),
  'rights-outside': note('parse', 'A path that a state may write is outside of the project.'),
  'no-network': warning(
    'lint',
    'A script or a check needs a network, and its rights give it none.',
  ),
  'perhaps-no-network': note(
    'lint',
    'A prompt names a command that needs a network, and its rights give it none.',
  ),
  'secret-in-prompt': warning('lint', 'A prompt has the name of a secret as a placeholder.'),
  'secret-nowhere': warning(
    'lint',
    'A state names a secret that the rights of its workflow do not name, and so does not get it.',
  ),
  'secret-without-hosts': note(
    'lint',
    'A state has secrets and no hosts, so it sees values instead of stand-ins.',
  ),
  'exposed-secrets': warning(
    'lint',
    'A state has no rights, and so can read the secrets of the other states.',
  ),
  // Triggers.
  'bad-schedule': error('parse', 'A schedule is not five fields of numbers, ranges and steps.'),
  'never-due': error('parse', 'A schedule names a day that none of its months has.'),
  'unknown-timezone': error('parse', 'The time zone of a schedule is unknown.'),
  'no-secret': error('parse', 'A webhook has no secret, and does not say that it needs none.'),
  'files-outside': error('parse', 'The files of a trigger are not in the project.'),
  'same-trigger': error('parse', 'A workflow has the same trigger twice.'),
  // Names of states.
  'missing-state': error(
    'lint',
    'A target, return, next, timeout_next, failed_next, judge or handover does not exist.',
  ),
  'ambiguous-state': error('lint', 'More than one file matches a name.'),
  'wrong-platform': error('lint', 'A name refers to a script that cannot run on the platform.'),
  // Tags in prompts and scripts.
  'unreadable-tag': error('lint', 'A script prints a tag that cannot be read.'),
  'unreadable-example': warning('lint', 'A prompt shows its agent a tag that cannot be read.'),
  'forks-disagree': error('lint', 'Forks in one answer have different values of next.'),
  'fork-without-next': error(
    'lint',
    'Neither a fork nor a goto or join beside it names the state at which the parent continues.',
  ),
  'join-without-fork': warning('lint', 'An agent joins child agents, but never forks one.'),
  'too-few-forks': warning('lint', 'A join waits for more child agents than its script forks.'),
  'unjoined-fork': note('lint', 'An agent forks child agents, but none of its states joins them.'),
  'forbidden-tag': warning('lint', 'A prompt shows a tag that its own policy forbids.'),
  'unmentioned-entry': note(
    'lint',
    'The prompt never mentions a transition that its policy allows.',
  ),
  // Values.
  'unfilled-placeholder': warning('lint', 'Nothing fills a placeholder, so it stays as written.'),
  'spaced-placeholder': warning(
    'lint',
    'A placeholder with spaces inside its braces is not filled.',
  ),
  'impossible-path': warning(
    'lint',
    'A placeholder reaches for a part that the checked value of its state cannot have.',
  ),
  'empty-value': note(
    'lint',
    'A state uses {{result}} or {{input}}, but no known transition to it passes a value.',
  ),
  'unread-result': note('lint', 'A callee returns a result to a state that does not use it.'),
  // Evaluators.
  'bad-check': error('parse', 'A check of ensures has no command, or names no transition.'),
  'check-never-runs': warning('lint', 'A check waits for a transition that its state never takes.'),
  'bad-evaluator': error('parse', 'An evaluator has no test, several tests, or no then.'),
  'bad-regex': error('parse', 'Raymond does not support the regular expression of an evaluator.'),
  'bad-name': error(
    'parse',
    'The judge of an evaluator, or a handover, is not a valid name of a state.',
  ),
  'incomplete-transition': error(
    'parse',
    'An entry of allowed_transitions, the then of an evaluator or the else of a check lacks a part.',
  ),
  'bad-judge': error('lint', 'The judge of an evaluator is not a prompt that can return a result.'),
  'evaluator-never-fires': warning('lint', 'An evaluator can never fire.'),
  'evaluator-beyond-budget': note('lint', 'An evaluator waits for a cost above the budget.'),
  // Finished runs.
  'refused-answer': warning('runs', 'A state would refuse an answer that a finished run took.'),
  // Paths through the workflow.
  'dead-end': warning('lint', 'No transition out of a state is known.'),
  'unreachable-state': warning('lint', 'No known transition leads to a state.'),
  'perhaps-unreachable': note(
    'lint',
    'No tag names a state, but some targets are chosen at run time.',
  ),
  'never-returns': warning('lint', 'The callee of a call can never return.'),
  'endless-loop': warning(
    'lint',
    'States lead to each other forever, without an exit and without a limit.',
  ),
  'unlimited-loop': note(
    'lint',
    'Prompts can repeat without a limit, so that only the budget ends them.',
  ),
  'result-ends-run': note(
    'lint',
    'A result returns to a caller on one path, and ends the run on another.',
  ),
} as const satisfies Record<string, LintCode>;

export type Code = keyof typeof LINT_CODES;

/** A diagnostic at a position, with the severity of its code. */
export function fault(
  code: Code,
  file: string,
  { line, column }: Position,
  message: string,
  details: Pick<Diagnostic, 'remedy' | 'nearest'> = {},
): Diagnostic {
  return { severity: LINT_CODES[code].severity, code, file, line, column, message, ...details };
}

function error(by: LintCode['by'], meaning: string): LintCode {
  return { severity: 'error', by, meaning };
}

function warning(by: LintCode['by'], meaning: string): LintCode {
  return { severity: 'warning', by, meaning };
}

function note(by: LintCode['by'], meaning: string): LintCode {
  return { severity: 'note', by, meaning };
}
