import { rightsPlays } from './acp-rights.ts';

rightsPlays('gemini');
rightsPlays('claude-acp');
rightsPlays('codex-acp');
rightsPlays('qwen');
rightsPlays('copilot');
rightsPlays('pi');
