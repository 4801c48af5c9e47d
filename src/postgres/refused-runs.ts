/** The runs that workers refuse: see `src/fleet/refusals.ts`. All parameters are expressions of SQL. */

/** What a refusal depends on, apart from the keys of the worker: a person may accept the run. */
export const reasonsOf = (row: string) => `${row}.born || ' ' || ${row}.era`;

/** A refusal that is valid. Now and then a worker looks again, because it may have got a key. */
export const isRefused = (run: string, worker: string) =>
  `exists (select from raymond.refusals f join raymond.runs refused on refused.id = f.run
    where f.reasons = ${reasonsOf('refused')} and f.until > now()
      and f.run = ${run} and f.worker = ${worker})`;
