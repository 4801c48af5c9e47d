import { createHash } from 'node:crypto';
import { isRunId } from '../journal/run-id.ts';
import type { KeptFiles } from '../ports.ts';
import type { Queries } from './database.ts';
import { noRun } from './run-errors.ts';

/** The files of questions and answers of a run. Others can write to the database, so the hash decides. */
export function postgresFiles({ query }: Queries, run: string): KeptFiles {
  return {
    async keep(content) {
      if (!isRunId(run)) throw noRun(run);
      const sha256 = hashOf(content);
      const kept = await query(
        `insert into raymond.files (run, sha256, content) select id, $2, $3 from raymond.runs where id = $1
         on conflict (run, sha256) do update set content = excluded.content returning run`,
        [run, sha256, Buffer.from(content)],
      );
      if (kept.length === 0) throw noRun(run);
      return sha256;
    },
    async read(sha256) {
      if (!isRunId(run) || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
      const [found] = await query<{ content: Buffer }>(
        'select content from raymond.files where run = $1 and sha256 = $2',
        [run, sha256],
      );
      return found && hashOf(found.content) === sha256 ? found.content : undefined;
    },
  };
}

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
