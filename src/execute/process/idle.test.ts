import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchIdle } from './idle.ts';

let folder = '';
const file = () => join(folder, 'stdout');
const other = () => join(folder, 'stderr');

beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'raymond-idle-'));
  writeFileSync(file(), 'begin');
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const watching = (idleTimeoutMs: number) => {
  const onIdle = vi.fn();
  const end = watchIdle({ files: [file(), other()], idleTimeoutMs, onIdle });
  return { onIdle, end };
};

test('onIdle is called once, after the whole timeout', () => {
  const { onIdle } = watching(600_000);
  vi.advanceTimersByTime(599_999);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2_000_000);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

test.each([['stdout'], ['stderr']])('growth of %s restarts the timeout', (name) => {
  const { onIdle } = watching(1000);
  for (let round = 0; round < 5; round++) {
    vi.advanceTimersByTime(900);
    appendFileSync(join(folder, name), 'x');
  }
  vi.advanceTimersByTime(900);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(300);
  expect(onIdle).toHaveBeenCalledTimes(1);
});

test('a watch that has ended does not call onIdle', () => {
  const { onIdle, end } = watching(1000);
  end();
  vi.advanceTimersByTime(5000);
  expect(onIdle).not.toHaveBeenCalled();
});

test('0 means no timeout', () => {
  const { onIdle } = watching(0);
  vi.advanceTimersByTime(10_000_000);
  expect(onIdle).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('silence does not count while the process rests, and then counts from the beginning', () => {
  const onIdle = vi.fn();
  let isResting = true;
  watchIdle({ files: [file()], idleTimeoutMs: 1000, isResting: () => isResting, onIdle });
  vi.advanceTimersByTime(1_000_000);
  isResting = false;
  vi.advanceTimersByTime(900);
  expect(onIdle).not.toHaveBeenCalled();
  vi.advanceTimersByTime(300);
  expect(onIdle).toHaveBeenCalledTimes(1);
});
