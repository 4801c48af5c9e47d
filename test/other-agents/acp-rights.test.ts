import { rightsPlays } from './acp-rights.ts';

rightsPlays('opencode');
