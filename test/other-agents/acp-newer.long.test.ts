// An agent that needs a newer Node than Raymond, with a scripted model.
import { plainPlay } from './acp-context.ts';
import { crashPlay, stopPlay } from './acp-crash.ts';

plainPlay('qwen');
stopPlay('qwen');
crashPlay('qwen');
