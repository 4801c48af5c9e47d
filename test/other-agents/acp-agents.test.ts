// Real agents over the Agent Client Protocol, with scripted models. The long form has more of them.
import { compactPlay, contextPlay } from './acp-context.ts';
import { crashPlay } from './acp-crash.ts';

// three-agents.test.ts shows that opencode remembers what the tags say, too.
contextPlay('codex-acp');
compactPlay('codex-acp');
crashPlay('codex-acp');
