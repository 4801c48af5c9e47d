import { describe, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { ATTACKS, playAttack } from './attacks.ts';
import {
  AUTHORITIES,
  CELLS,
  covering,
  isDefended,
  isGood,
  MOMENTS,
  nameOf,
  OPERATIONS,
  playCell,
  playControl,
  playFileCommands,
  playPeace,
} from './matrix.ts';

const LONG = { timeout: 120_000 };

/**
 * `npm run attack` and the long tests also play the slow ones, and the controls, which show that each payload
 * would work.
 */
const PLAYED = ATTACKS.filter(
  ({ name, isSlow }) => isLong || !(isSlow || name.startsWith('control: ')),
);

const onLinux = test.runIf(process.platform === 'linux');

onLinux.each(PLAYED)('$name: $expected', LONG, async (attack) => {
  const { expected, seen } = await playAttack(attack);
  expect(seen).toBe(expected);
});

describe('files with authority', () => {
  const cells = covering(CELLS.filter(isDefended), 'single').map((cell) => ({
    name: nameOf(cell),
    cell,
  }));

  test('every file, operation and moment is attacked', () => {
    const chosen = cells.flatMap(({ cell }) => [cell.file.name, cell.operation, cell.moment]);
    const all = [...AUTHORITIES.map(({ name }) => name), ...OPERATIONS, ...MOMENTS];
    expect(new Set(chosen)).toEqual(new Set(all));
  });

  onLinux.each(cells)('$name', LONG, async ({ cell }) => {
    const { seen } = await playCell(cell, 'outermost');
    expect(seen).toSatisfy(isGood);
  });

  onLinux(
    'an agent with file commands is refused everywhere, and it is reported',
    LONG,
    async () => {
      const calls = await playFileCommands('newer', 'some');
      expect(calls.filter(({ seen }) => seen !== 'refused')).toEqual([]);
    },
  );

  onLinux('nothing is said of an attack where there is none', LONG, async () => {
    expect(await playPeace('scripts', 'while Raymond is dead')).toBe('ok');
  });

  onLinux('the payloads work where nothing defends', LONG, async () => {
    const [file] = AUTHORITIES.filter(({ control }) => control !== undefined);
    if (file === undefined) throw new Error('No file has a control.');
    expect(await playControl(file)).toBe('noticed');
  });
});
