// Real agents over the Agent Client Protocol, with scripted models. The long form has more of them.
import { contextPlay } from './acp-context.ts';
import { crashPlay } from './acp-crash.ts';

contextPlay('opencode');
crashPlay('codex-acp');
