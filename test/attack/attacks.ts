import { AGENT_LIMITS } from './agent-limits.ts';
import { AGENTS_TRICKS } from './agents-tricks.ts';
import { ANSWERS } from './answers.ts';
import type { Attack } from './attack.ts';
import { FLEET } from './fleet.ts';
import { FOLDER_TRICKS } from './folder-tricks.ts';
import { JOURNAL_AUTHORITY } from './journal-authority.ts';
import { PAGE } from './page.ts';
import { POLICY_ESCAPES } from './policy.ts';
import { SECRETS } from './secrets.ts';
import { STEP_FILE_ATTACKS } from './step-files.ts';
import { STRANGERS_FILES } from './strangers-files.ts';
import { STRANGERS_REPOSITORY } from './strangers-repository.ts';

export { playAttack } from './attack.ts';

export const ATTACKS: readonly Attack[] = [
  ...STRANGERS_FILES,
  ...AGENTS_TRICKS,
  ...ANSWERS,
  ...FOLDER_TRICKS,
  ...PAGE,
  ...POLICY_ESCAPES,
  ...JOURNAL_AUTHORITY,
  ...FLEET,
  ...STEP_FILE_ATTACKS,
  ...AGENT_LIMITS,
  ...SECRETS,
  ...STRANGERS_REPOSITORY,
];
