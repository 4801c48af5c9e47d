// Agents that only the long tests play, with scripted models. Most need a newer Node than Raymond.
import { plainPlay } from './acp-context.ts';
import { crashPlay, lossPlay, stopPlay } from './acp-crash.ts';

for (const name of ['qwen', 'pi', 'copilot'] as const) {
  plainPlay(name);
  plainPlay(name, ['--no-warm']);
  stopPlay(name);
  crashPlay(name);
  lossPlay(name);
}
