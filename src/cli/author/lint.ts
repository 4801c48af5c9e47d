import { diagnose } from '../../app/diagnose.ts';
import { AGENTS } from '../../execute/agents/agents.ts';
import { refusedAnswers } from '../../lint/refused-answers.ts';
import { toSarif } from '../../lint/sarif.ts';
import type { LooseLibrary } from '../../load/load.ts';
import { counted } from '../../model/counted.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { WorkflowError } from '../../model/user-error.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { metadataFrom } from '../../world/config/settings.ts';
import { diagnosticLine, placed } from '../../world/diagnostic-line.ts';
import type { Here } from '../../world/surroundings.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { configuredLibrary } from '../../world/wire.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

export interface LintOptions {
  readonly json?: boolean;
  readonly sarif?: boolean;
  readonly level?: string;
  readonly windows?: boolean;
  readonly set?: readonly string[];
  /** Also what finished runs answered, and would be refused. */
  readonly againstRuns?: boolean;
}

/** Reports the faults of a workflow. Returns 1 if one of them is an error. */
export async function lint(here: Here, path: string, options: LintOptions): Promise<number> {
  const least = levelOf(options.level);
  const variables = Object.keys(metadataFrom(options.set ?? []));
  const library = await configuredLibrary(here);
  const { found: own } = await diagnose(library, path, {
    variables,
    ...(options.windows && { platform: 'windows' as const }),
  });
  const all = options.againstRuns ? [...own, ...(await refused(here, library, path))] : own;
  const shown = all.filter(({ severity }) => LEVELS.indexOf(severity) <= least);
  if (options.sarif) stdout.json(toSarif(shown, RAYMOND_VERSION, AGENTS), 2);
  else if (options.json) for (const diagnostic of shown) stdout.json(diagnostic);
  else print(shown);
  return all.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** What finished runs answered and the workflow would refuse. A workflow that cannot be read refuses nothing. */
async function refused(
  here: Here,
  library: LooseLibrary,
  path: string,
): Promise<readonly Diagnostic[]> {
  const workflow = await library.load(path).catch((error: unknown) => {
    if (!(error instanceof WorkflowError)) throw error;
  });
  if (!workflow) return [];
  const { refusedInRuns } = await import('./against-runs.ts');
  const found = await refusedInRuns(await here(), library, workflow);
  return refusedAnswers(workflow, found).map((one) => placed(library, workflow, one));
}

const LEVELS: readonly string[] = ['error', 'warning', 'note'] satisfies Diagnostic['severity'][];

function levelOf(level = 'note'): number {
  const index = LEVELS.indexOf(level);
  if (index < 0) throw wrongUsage(`--level is "${level}".`, 'Write error, warning or note.');
  return index;
}

function print(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) stdout.say(diagnosticLine(diagnostic));
  const counts = LEVELS.map(
    (level) => [level, diagnostics.filter((d) => d.severity === level).length] as const,
  )
    .filter(([, count]) => count > 0)
    .map(([level, count]) => counted(count, level));
  stderr.say(counts.length > 0 ? counts.join(', ') : 'No problems found.');
}
