/** Workflows that ask, and the state of their runs. */
import { eventually } from '../eventually.ts';
import type { Project } from '../raymond.ts';

export const NEXT = `echo "<result>$RAYMOND_RESULT</result>"`;
const LATE = `echo >>late; echo '<result>late</result>'`;

export const timed = (timeout: string) =>
  `echo '<ask next="NEXT" timeout="${timeout}" timeout_next="LATE">which colour?</ask>'`;

export const FLOWS = {
  'ask/START.sh': `echo '<ask next="NEXT">which colour?</ask>'`,
  'ask/NEXT.sh': NEXT,
  'short/START.sh': timed('0.2s'),
  'short/NEXT.sh': NEXT,
  'short/LATE.sh': LATE,
  'long/START.sh': timed('24h'),
  'long/NEXT.sh': NEXT,
  'long/LATE.sh': LATE,
};

export const count = (project: Project, run: string, type: string) =>
  project.journal(run).filter((event) => event.type === type).length;

export const hasAsked = (project: Project, run: string) =>
  eventually(`${run} has asked`, () => count(project, run, 'agent-asked') === 1);
