// Agents that need a newer Node than Raymond, with scripted models.
import { plainPlay } from './acp-context.ts';
import { crashPlay, lossPlay, stopPlay } from './acp-crash.ts';

for (const name of ['qwen', 'pi'] as const) {
  plainPlay(name);
  stopPlay(name);
  crashPlay(name);
}
plainPlay('pi', ['--no-warm']);
lossPlay('pi');
