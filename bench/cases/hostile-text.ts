import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchCase, Measures } from '../frame/case.ts';
import { type Orchestrator, raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';

const BYTES = 8 * 1024 * 1024;
const PLAIN = 'A line as a build or a test prints it, with a number: 12345.\n';

export const hostileTags: BenchCase = {
  name: 'hostile-tags',
  title: '8 MB of unclosed tags',
  ...hostile('<goto><reset><fork a="b">'),
};

export const hostilePrints: BenchCase = {
  name: 'hostile-prints',
  title: '8 MB of unclosed prints, on short lines',
  ...hostile('<print>a\n'),
};

function hostile(unit: string): Omit<BenchCase, 'name' | 'title'> {
  return {
    floor: 'plain text of the same size',
    unit: 'ms',
    limits: 'ratio',
    target: 8,
    comparable: true,
    prepare: (bench) => measures(bench, unit),
  };
}

/** The least time of a run without output is subtracted from every run. */
function measures({ folder }: Bench, unit: string): Measures {
  const [silent, plain, hostile] = ['', PLAIN, unit].map((text) => printing(folder, text));
  const start = new Map<Orchestrator, number>();
  const cost = (orchestrator: Orchestrator, flow = '') => {
    const run = (of = '') => orchestrator.run({ project: of, workflow: '.' });
    start.set(orchestrator, Math.min(run(silent), start.get(orchestrator) ?? Infinity));
    return Math.max(1, run(flow) - (start.get(orchestrator) ?? 0));
  };
  return {
    floor: () => cost(raymond, plain),
    ours: (orchestrator) => cost(orchestrator, hostile),
  };
}

function printing(folder: string, unit: string): string {
  const flow = project(folder, { 'START.sh': `cat text\necho '<result>done</result>'\n` });
  writeFileSync(join(flow, 'text'), unit === '' ? '' : unit.repeat(Math.ceil(BYTES / unit.length)));
  return flow;
}
