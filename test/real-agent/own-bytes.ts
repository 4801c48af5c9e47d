/** What belongs to a run with the real agent and to its user, and git in its project. */
import { execFileSync } from 'node:child_process';
import { bytesOfRun } from '../bytes-of-run.ts';
import { eventsOf, type RaymondSandbox } from './raymond-sandbox.ts';

export function git({ claude }: RaymondSandbox, ...args: string[]): string {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  return execFileSync('git', ['-C', claude.work, ...who, ...args], { encoding: 'utf8' });
}

/** The run `r`, its conversations and the files of the user, byte for byte. */
export const own = ({ claude, journal }: RaymondSandbox) =>
  bytesOfRun({
    ...{ folder: claude.work, run: 'r' },
    also: eventsOf(journal('r'), 'step-ended').flatMap(({ session }) =>
      session ? transcriptsOf(claude.configFolder, session.id) : [],
    ),
  });

const transcriptsOf = (folder: string, session: string) =>
  execFileSync('find', [folder, '-name', `${session}.jsonl`], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');
