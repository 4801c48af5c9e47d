import { explore } from '../explore/explore.ts';
import { mentionsOf } from '../graph/mentions.ts';
import { statesHere, waysOf } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { Platform, State, Workflow } from '../model/workflow.ts';
import { findState } from '../parse/resolve.ts';
import { stemOf } from '../parse/state.ts';
import type { WorkflowReading } from '../parse/workflow.ts';
import { cannotBranch, otherAgents, unknownCosts } from './agents.ts';
import { fault, lintCodes } from './codes.ts';
import { neverChecked } from './ensures.ts';
import { badJudges, beyondBudget, neverFiring } from './evaluators.ts';
import { flowFaults } from './flow-faults.ts';
import { badHandovers, emptyHandovers, unknownContexts, unusedHandovers } from './handovers.ts';
import { joinsWithoutForks, tooFewForks, unjoinedForks } from './joins.ts';
import { unlimitedLoops } from './loops.ts';
import { sameStems, unresolvedJudges, unresolvedNames } from './names.ts';
import { impossiblePaths } from './paths.ts';
import {
  misplacedNotes,
  spacedPlaceholders,
  unfilledPlaceholders,
  uselessFills,
} from './placeholders.ts';
import { forbiddenTags, unmentionedEntries } from './policy-tags.ts';
import { perhapsWithoutNetwork, withoutNetwork } from './rights.ts';
import { fileOf, type Lint, type LintOptions, type Rule, startOf } from './rule.ts';
import { badlyPrintedTags } from './script-tags.ts';
import { crlfScripts, notText, shebangOptions } from './scripts.ts';
import { exposedSecrets, secretsInPrompts, uselessSecrets } from './secrets.ts';
import {
  badTransitions,
  disagreeingForks,
  forksWithoutNext,
  misspelledTags,
  unreadableTags,
} from './tags.ts';
import { emptyValues, unreadResults } from './values.ts';

export type { LintOptions };
export { lintCodes };

/** Every fault of a workflow that can be found without running it, in the order of its files. */
export function lint(workflow: Workflow, options: LintOptions = {}): readonly Diagnostic[] {
  const { platform = workflow.platform } = options;
  const entry = entryOn(workflow, platform);
  if (entry === undefined) return [...workflow.diagnostics, noEntryOn(workflow, platform)];
  const here = { ...workflow, platform, entry };
  const states = statesHere(here);
  const ways = new Map(states.map((state) => [state.name, waysOf(here, state)]));
  const checked = { workflow: here, states, ways, options };
  const ofRules = RULES.flatMap((rule) => rule(checked));
  const faulty = new Set([
    ...ofRules.filter(isFaultOfTag).map(({ file }) => file),
    ...states.filter(printsUnknownTag).map(({ name }) => name),
  ]);
  const { walk } = explore(here);
  const found = [...ofRules, ...impossiblePaths(checked, walk), ...flowFaults(here, walk, faulty)];
  const ours = found.map((one) => ({ ...one, file: fileOf(workflow, one.file) }));
  return inOrder([...workflow.diagnostics, ...ours]);
}

/** The diagnostics of a workflow without a readable entry: why it has none, and the other faults. */
export function lintFailure(
  reading: Extract<WorkflowReading, { ok: false }>,
): readonly Diagnostic[] {
  const { code, file, message, remedy, diagnostics } = reading;
  const start = { file, line: 1, column: 1 };
  return [{ severity: 'error', code, ...start, message, remedy }, ...inOrder(diagnostics)];
}

const isFaultOfTag = ({ code }: Diagnostic) =>
  code === 'unreadable-tag' || code === 'unreadable-example' || code === 'bad-transition';

/** The shell fills in its attributes, or it is a fault. */
const printsUnknownTag = (state: State) =>
  state.kind === 'script' && mentionsOf(state).some(({ kind }) => kind === 'bad');

const RULES: readonly Rule[] = [
  ({ workflow }: Lint) => cannotBranch(workflow),
  unknownCosts,
  unknownContexts,
  misplacedNotes,
  withoutNetwork,
  perhapsWithoutNetwork,
  secretsInPrompts,
  uselessSecrets,
  exposedSecrets,
  otherAgents,
  unresolvedNames,
  unresolvedJudges,
  sameStems,
  unreadableTags,
  misspelledTags,
  badTransitions,
  badlyPrintedTags,
  disagreeingForks,
  forksWithoutNext,
  joinsWithoutForks,
  tooFewForks,
  unjoinedForks,
  ({ workflow, states }: Lint) => states.flatMap((state) => forbiddenTags(workflow, state)),
  unmentionedEntries,
  unfilledPlaceholders,
  uselessFills,
  spacedPlaceholders,
  emptyValues,
  unreadResults,
  badJudges,
  badHandovers,
  unusedHandovers,
  emptyHandovers,
  neverChecked,
  neverFiring,
  beyondBudget,
  unlimitedLoops,
  notText,
  crlfScripts,
  shebangOptions,
];

/** The same entry may be another file on another platform. */
function entryOn(workflow: Workflow, platform: Platform): StateName | undefined {
  const { states, entry } = workflow;
  const resolution = findState({ states, platform }, stemOf(entry));
  if ('found' in resolution) return resolution.found;
  return resolution.problem === 'ambiguous' ? entry : undefined;
}

function noEntryOn(workflow: Workflow, platform: Platform): Diagnostic {
  const { entry } = workflow;
  const needed = platform === 'windows' ? '.ps1 or .bat' : '.sh';
  return fault(
    'wrong-platform',
    fileOf(workflow, entry),
    startOf(workflow.states.get(entry)),
    `${entry} cannot run on ${platform}.`,
    {
      remedy: `Add a ${stemOf(entry)} with the extension ${needed}.`,
    },
  );
}

/** Several rules may find the same fault at the same position. It is reported once. */
function inOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const byPosition = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) {
    const { code, file, line, column } = diagnostic;
    const key = JSON.stringify([code, file, line, column]);
    if (!byPosition.has(key)) byPosition.set(key, diagnostic);
  }
  return [...byPosition.values()].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column,
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
