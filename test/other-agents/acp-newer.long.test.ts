// Agents that need a newer Node than Raymond, with scripted models.
import { plainPlay } from './acp-context.ts';
import { crashPlay, lossPlay, stopPlay } from './acp-crash.ts';

for (const name of ['qwen', 'pi'] as const) {
  plainPlay(name);
  plainPlay(name, ['--no-warm']);
  stopPlay(name);
  crashPlay(name);
  lossPlay(name);
}
