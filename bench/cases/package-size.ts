import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { BenchCase } from '../frame/case.ts';

const root = join(import.meta.dirname, '..', '..');

/** The size of an installation on the network, without the one dependency. */
export const packageSize: BenchCase = {
  name: 'package-size',
  title: 'the archive that npm downloads',
  floor: 'its files',
  unit: 'MB',
  limits: 'value',
  target: 2.5,
  comparable: false,
  rounds: 1,
  prepare: () => {
    const words = ['pack', '--dry-run', '--ignore-scripts', '--json'];
    const said = execFileSync('npm', words, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [archive]: readonly Archive[] = JSON.parse(said);
    if (!archive) throw new Error('npm pack names no archive.');
    return { floor: () => archive.unpackedSize / 1e6, ours: () => archive.size / 1e6 };
  },
};

interface Archive {
  readonly size: number;
  readonly unpackedSize: number;
}
