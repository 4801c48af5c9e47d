import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Check } from '../../execute/agents/program-checks.ts';
import { sandboxProblem } from '../../execute/rights/sandbox-check.ts';
import { cureOf, reasonOf } from '../../journal/disk-errors.ts';
import { counted } from '../../model/counted.ts';
import { UserError } from '../../model/user-error.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { ignoredKeys, readConfiguration } from '../../world/config/configuration.ts';
import {
  CONNECTIONS_OF_WORKER,
  freeConnections,
  SPARED_CONNECTIONS,
} from '../../world/fleet/worker-ports.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { stdout } from '../terminal/terminal.ts';
import { checkAgentPrograms } from './doctor-agents.ts';

/** Checks everything that a run needs, and says how to fix problems. Spends nothing. */
export async function doctor(here: Here, { json }: { readonly json?: boolean }): Promise<number> {
  const around = await here();
  const { project } = around;
  const { config, check } = await checkConfig(project);
  const checks = [
    checkNode(process.versions.node),
    ...(await checkAgentPrograms(around, config)),
    await checkGit(),
    await checkSandbox(),
    check,
    await checkWritable(around),
    await checkSpace(around),
    ...(around.databaseUrl === undefined ? [] : [await checkDatabase(around.databaseUrl)]),
  ];
  const isWell = checks.every(({ verdict }) => verdict !== 'problem');
  if (json) stdout.json({ ok: isWell, checks });
  else stdout.say(...checks.flatMap(lines), ending(checks));
  return isWell ? 0 : 1;
}

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const;

function lines({ name, verdict, fact, remedy }: Check): readonly string[] {
  const first = `${MARKS[verdict]}  ${name.padEnd(11)}  ${fact}`;
  return remedy === undefined ? [first] : [first, `${' '.repeat(22)}${remedy}`];
}

function ending(checks: readonly Check[]): string {
  const count = checks.filter(({ verdict }) => verdict === 'problem').length;
  if (count === 0) return 'Workflows can run here.';
  return `${counted(count, 'problem')} must be fixed.`;
}

const OLDEST_NODE = [20, 19] as const;

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  const fact = `Node.js ${version}`;
  if (!isOld) return { name: 'node', verdict: 'ok', fact };
  const remedy = `Install Node.js ${OLDEST_NODE.join('.')} or newer.`;
  return { name: 'node', verdict: 'problem', fact: `${fact} is too old.`, remedy };
}

async function checkGit(): Promise<Check> {
  const said = await new Promise<string>((resolve) => {
    execFile('git', ['--version'], (_error, stdout) => resolve(stdout.trim()));
  });
  if (said !== '') return { name: 'git', verdict: 'ok', fact: said };
  return {
    name: 'git',
    verdict: 'warning',
    fact: 'git is not installed. Many workflows use it.',
    remedy: 'Install it, so that you can see and undo the changes of agents.',
  };
}

async function checkSandbox(): Promise<Check> {
  const name = 'sandbox';
  const problem = await sandboxProblem(true);
  if (problem) return { name, verdict: 'warning', ...problem };
  const sandbox = process.platform === 'linux' ? 'bubblewrap' : 'Seatbelt';
  return { name, verdict: 'ok', fact: `${sandbox} can confine steps with rights` };
}

async function checkConfig(
  project: Surroundings['project'],
): Promise<{ config: RunOptions; check: Check }> {
  const name = 'config';
  try {
    const configuration = await readConfiguration(project);
    const config = configuration.options;
    const files = [configuration.user, configuration.project].filter(({ text }) => text);
    const [ignored, remedy] = ignoredKeys(configuration);
    if (ignored !== undefined && remedy !== undefined)
      return { config, check: { name, verdict: 'warning', fact: ignored, remedy } };
    const fact = files.map(({ file }) => file).join(', ') || 'no config file (none is needed)';
    return { config, check: { name, verdict: 'ok', fact } };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message: fact, remedy } = error;
    return { config: {}, check: { name, verdict: 'problem', fact, remedy } };
  }
}

/** Checks `.raymond`, or the folder in which it would be created. */
async function checkWritable(around: Surroundings): Promise<Check> {
  const { project, disk } = around;
  const folder = await nearestFolder(around);
  try {
    await disk.checkWritable(folder);
    return { name: 'folder', verdict: 'ok', fact: `${project.folder} is writable` };
  } catch (error) {
    const fact = `${folder} is not writable, so Raymond cannot save runs: ${reasonOf(error)}.`;
    return { name: 'folder', verdict: 'problem', fact, remedy: `${cureOf(error)}.` };
  }
}

async function nearestFolder({ project, disk }: Surroundings): Promise<string> {
  const { folder } = project;
  return (await disk.kind(folder)) === undefined ? dirname(folder) : folder;
}

const MEGABYTE = 1024 * 1024;
const LEAST_BYTES = 100 * MEGABYTE;
const AMPLE_BYTES = 1024 * MEGABYTE;

async function checkSpace(around: Surroundings): Promise<Check> {
  const { bavail, bsize } = await statfs(await nearestFolder(around));
  const free = bavail * bsize;
  const name = 'disk';
  const fact = `${(free / MEGABYTE).toFixed(0)} MB free`;
  if (free >= AMPLE_BYTES) return { name, verdict: 'ok', fact };
  const verdict = free < LEAST_BYTES ? 'problem' : 'warning';
  return {
    name,
    verdict,
    fact: `Only ${fact}.`,
    remedy: 'Free some space, for example with: raymond prune',
  };
}

/** Says how many connections are free, and how many a worker needs. */
async function checkDatabase(url: string): Promise<Check> {
  const name = 'database';
  try {
    const { least, most } = CONNECTIONS_OF_WORKER;
    const { database, left, most: all } = await freeConnections(url);
    const fact = `${database} has ${left} of ${all} connections free; a worker needs ${least} to ${most}`;
    if (left >= least + SPARED_CONNECTIONS) return { name, verdict: 'ok', fact };
    const remedy = 'Raise max_connections of the server, or end programs that use it.';
    return { name, verdict: 'warning', fact: `${fact}.`, remedy };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { name, verdict: 'problem', fact: error.message, remedy: error.remedy };
  }
}
