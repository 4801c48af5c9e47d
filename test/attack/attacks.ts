import { AGENTS_TRICKS } from './agents-tricks.ts';
import type { Attack } from './attack.ts';
import { STRANGERS_FILES } from './strangers-files.ts';

export { playAttack } from './attack.ts';

export const ATTACKS: readonly Attack[] = [...STRANGERS_FILES, ...AGENTS_TRICKS];
