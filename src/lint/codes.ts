import type { Position } from '../graph/position.ts';
import type { AgentDeclaration, FaultKind } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';

export interface LintCode extends FaultKind {
  /** Who finds it: the reader of files, the reader of a source, or lint itself. */
  readonly by: 'load' | 'parse' | 'lint';
}

/** The codes that `raymond lint` can give for workflows of an agent. The reference explains each. */
export function lintCodes(agent: AgentDeclaration): ReadonlyMap<string, LintCode> {
  const own = Object.entries(agent.faults).map(
    ([code, kind]) => [code, { ...kind, by: 'parse' }] as const,
  );
  return new Map<string, LintCode>([...Object.entries(LINT_CODES), ...own]);
}

/** Those that are the same for every agent. */
const LINT_CODES = {
  // How the workflow begins.
  'no-entry': error('parse', 'There is neither a 1_START nor a START.'),
  'two-entries': error('parse', 'There is both a 1_START and a START.'),
  'ambiguous-entry': error('parse', 'The entry can mean more than one file.'),
  'no-such-state': error('load', 'The state at which to begin does not exist.'),
  // Files.
  'unusable-file': error(
    'load',
    'A file is there but may not be used, like a link that leaves the source.',
  ),
  'not-utf8': error('parse', 'A file is not UTF-8.'),
  'not-text': error('lint', 'A script holds NUL characters, so it is no text.'),
  'crlf-script': error(
    'lint',
    'A bash script has Windows line ends, which bash takes for part of its commands.',
  ),
  'other-shebang': warning('lint', 'A script asks for an interpreter that it will not get.'),
  'same-stem': warning(
    'lint',
    'Two files differ only in their ending, so that their bare name is ambiguous.',
  ),
  // Front matter.
  'late-front-matter': error('parse', 'Front matter does not stand at the very start of its file.'),
  'unclosed-front-matter': error('parse', 'Front matter begins and never ends.'),
  yaml: error('parse', 'Front matter is not valid YAML.'),
  'unknown-key': warning('parse', 'A key of front matter, or of an evaluator, is not known.'),
  'bad-key': error('parse', 'A key of front matter is not a plain word.'),
  'bad-value': error('parse', 'A value is not of the kind that its key needs.'),
  'empty-list': warning('parse', 'allowed_transitions is empty, so everything is allowed.'),
  'missing-tag': error('parse', 'An entry of allowed_transitions, or a then, has no tag.'),
  'unknown-tag': error('parse', 'There is no such tag.'),
  'bad-transition': error(
    'parse',
    'A tag lacks a part, or has one that it may not have, like cd on a goto.',
  ),
  'force-implicit': error('parse', 'force_implicit has no single complete transition to take.'),
  // Names of states.
  'missing-state': error('lint', 'A target, return, next, timeout_next or judge does not exist.'),
  'ambiguous-state': error('lint', 'A name can mean more than one file.'),
  'wrong-platform': error('lint', 'A name means a script that cannot run on the platform.'),
  // Tags in texts.
  'unreadable-tag': error('lint', 'A script prints a tag that cannot be read.'),
  'unreadable-example': warning('lint', 'A prompt shows its agent a tag that cannot be read.'),
  'forks-disagree': error('lint', 'Forks that stand together have different nexts.'),
  'fork-without-next': error('lint', 'A fork does not say where the parent goes on.'),
  'forbidden-tag': warning('lint', 'A prompt shows a tag that its own policy forbids.'),
  'unmentioned-entry': note('lint', 'The prompt never speaks of something that its policy allows.'),
  // Values.
  'unfilled-placeholder': warning('lint', 'Nothing fills a placeholder, so it stays as written.'),
  'spaced-placeholder': warning('lint', 'A placeholder with spaces in its braces is not filled.'),
  'empty-value': note(
    'lint',
    'A state uses {{result}} or {{input}}, and no known way to it brings a value.',
  ),
  'unread-result': note('lint', 'A callee returns a result to a state that does not use it.'),
  // Evaluators.
  'bad-evaluator': error('parse', 'An evaluator lacks its test or its then, or has too many.'),
  'bad-regex': error(
    'parse',
    'The pattern of an evaluator is not a regular expression that Raymond supports.',
  ),
  'bad-name': error('parse', 'The judge of an evaluator cannot be the name of a state.'),
  'incomplete-transition': error('parse', 'The then of an evaluator leaves something open.'),
  'bad-judge': error('lint', 'The judge of an evaluator is not a prompt that can give a result.'),
  'evaluator-never-fires': warning('lint', 'An evaluator can never fire.'),
  'evaluator-beyond-budget': note('lint', 'An evaluator waits for a cost above the budget.'),
  // Where it all leads.
  'dead-end': warning('lint', 'No transition out of a state is known at all.'),
  'unreachable-state': warning('lint', 'No known way leads to a state.'),
  'perhaps-unreachable': note(
    'lint',
    'No tag names a state, but some targets are chosen at run time.',
  ),
  'never-returns': warning('lint', 'A call whose callee can never return.'),
  'endless-loop': warning(
    'lint',
    'States lead to each other for ever, with no way out and no limit.',
  ),
  'result-ends-run': note(
    'lint',
    'A result that returns to a caller elsewhere ends the run on another path.',
  ),
} as const satisfies Record<string, LintCode>;

export type Code = keyof typeof LINT_CODES;

/** A fault at its place, with the severity of its code. */
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
