// opencode over the Agent Client Protocol, with a scripted model.
import { contextPlay } from './acp-context.ts';
import { crashPlay } from './acp-crash.ts';

contextPlay('opencode');
crashPlay('opencode');
