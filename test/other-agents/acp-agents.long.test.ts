// Real agents over the Agent Client Protocol, with scripted models.
import {
  contextPlay,
  killedCompactPlay,
  limitPlay,
  ownCompactionPlay,
  plainPlay,
} from './acp-context.ts';
import { crashPlay, gonePlay, lossPlay, stopPlay } from './acp-crash.ts';

plainPlay('gemini');
stopPlay('gemini');
crashPlay('gemini');
plainPlay('gemini', ['--no-warm']);
gonePlay('gemini');
contextPlay('opencode');
contextPlay('claude-acp');
crashPlay('opencode');
crashPlay('claude-acp');
killedCompactPlay('codex-acp');
limitPlay('opencode');
limitPlay('claude-acp');
ownCompactionPlay('opencode', { OPENCODE_DISABLE_AUTOCOMPACT: '0' });
for (const name of ['codex-acp', 'claude-acp', 'opencode'] as const) {
  contextPlay(name, ['--no-warm']);
  lossPlay(name);
  stopPlay(name);
}
