import type { NamedObserver } from '../host/observe-all.ts';
import type { Agents } from '../model/agent.ts';
import type { Run } from '../model/run.ts';
import { agentNamed } from '../parse/chosen-agent.ts';
import type { Surroundings } from './surroundings.ts';
import { RAYMOND_VERSION } from './version.ts';

/** Sends spans and metrics of a run if the user's environment says where to. A rehearsal sends nothing. */
export async function telemetry(
  run: Run,
  agents: Agents,
  { clock, report }: Pick<Surroundings, 'clock' | 'report'>,
): Promise<readonly NamedObserver[]> {
  // Most users have no such variable, and then nothing is loaded.
  const isNamed = Object.keys(process.env).some((name) => name.startsWith('OTEL_'));
  if (!isNamed || run.settings.rehearse) return [];
  const { telemetrySettings } = await import('../telemetry/settings.ts');
  const { settings, problems } = telemetrySettings(process.env);
  report(...problems);
  if (!settings) return [];
  const { telemetryObserver } = await import('../telemetry/observer.ts');
  const instance = {
    'service.version': RAYMOND_VERSION,
    'service.instance.id': `${run.id}:${process.pid}`,
  };
  const providerOf = (executor: string) => agentNamed(agents, executor)?.provider ?? executor;
  const parts = { clock, instance, providerOf, report };
  return [['OpenTelemetry', telemetryObserver(settings, parts)]];
}
