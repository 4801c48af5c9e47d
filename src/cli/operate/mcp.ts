import { forPrograms } from '../../app/for-programs.ts';
import { newRun } from '../../interpret/new-run.ts';
import { serveTools } from '../../mcp/server.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { readConfiguration } from '../../world/config/configuration.ts';
import type { Here } from '../../world/surroundings.ts';
import { RAYMOND_VERSION } from '../../world/version.ts';
import { inputEnds } from '../terminal/terminal.ts';

export interface McpOptions {
  readonly budget?: string;
  readonly decidePermissions?: boolean;
}

/** Serves tools to an orchestrating agent until the client disconnects. The runs continue without it. */
export async function mcp(here: Here, options: McpOptions): Promise<number> {
  const around = await here();
  // The agent cannot start workflows that it writes from now on.
  const unchangedSince = around.clock.now();
  // A wrong URL is reported here, not at each call of a tool.
  await around.world.connect();
  const gone = new AbortController();
  const ended = inputEnds();
  const serving = serveTools(
    {
      control: forPrograms(around, { unchangedSince }),
      mostBudgetUsd: budgetFrom(options) ?? (await usualBudget(around.project)),
      mayAllow: options.decidePermissions === true,
      closed: gone.signal,
    },
    RAYMOND_VERSION,
  );
  await ended;
  gone.abort();
  await serving.close();
  return 0;
}

function budgetFrom({ budget }: McpOptions): number | undefined {
  if (budget === undefined) return undefined;
  const usd = budget.trim() === '' ? Number.NaN : Number(budget);
  if (usd >= 0 && Number.isFinite(usd)) return usd;
  throw wrongUsage(`The budget ${budget} is not a number.`, 'Give US dollars; 0 is unlimited.');
}

/** The budget that a start without an option has. */
async function usualBudget(project: Parameters<typeof readConfiguration>[0]): Promise<number> {
  const { options } = await readConfiguration(project);
  return options.budget ?? newRun.settings.budgetUsd;
}
