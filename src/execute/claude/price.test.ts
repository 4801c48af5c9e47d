import { describe, expect, it } from 'vitest';
import type { Spending } from './messages.ts';
import { alreadyCounted, type CostBefore, turnMeter } from './price.ts';

const nothing: Spending = {
  message: 'm',
  model: 'claude-opus-4-8',
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  characters: 0,
};

function estimate(...spent: Partial<Spending>[]): number {
  const meter = turnMeter();
  for (const each of spent) meter.add({ ...nothing, ...each });
  return meter.estimateUsd();
}

describe('the estimate of a turn without a result', () => {
  it('uses the length of the text when an answer was stopped early', () => {
    const meter = turnMeter();
    meter.add({ ...nothing, message: 'a', inputTokens: 1_000_000 });
    meter.addWritten(2_000_000);
    meter.addWritten(1_000_000);
    meter.add({ ...nothing, message: 'b', inputTokens: 1_000_000 });
    expect(meter.estimateUsd()).toBeCloseTo(5 + 25 + 5, 6);
  });

  const million = 1_000_000;
  const rows: [string, Partial<Spending>[], number][] = [
    ['no messages', [], 0],
    ['input', [{ inputTokens: million }], 5],
    ['output', [{ outputTokens: million }], 25],
    ['reading the cache', [{ cacheReadTokens: million }], 0.5],
    ['writing the cache', [{ cacheWriteTokens: million }], 10],
    ['sonnet', [{ model: 'claude-sonnet-5', inputTokens: million }], 3],
    ['haiku', [{ model: 'claude-haiku-4-5-20251001', outputTokens: million }], 5],
    ['fable', [{ model: 'claude-fable-5', inputTokens: million }], 10],
    ['the first opus 4', [{ model: 'claude-opus-4-20250514', inputTokens: million }], 15],
    ['opus 4.1', [{ model: 'claude-opus-4-1-20250805', inputTokens: million }], 15],
    ['an unknown model at the highest price', [{ model: 'x', outputTokens: million }], 75],
    [
      'one message in several events, counted once',
      [{ inputTokens: million }, { inputTokens: million }, { inputTokens: million }],
      5,
    ],
    [
      'two messages',
      [
        { message: 'a', inputTokens: million },
        { message: 'b', inputTokens: million },
      ],
      10,
    ],
    [
      'output that is longer than the tokens counted so far',
      [
        { outputTokens: 2, characters: 2_000_000 },
        { outputTokens: 2, characters: 1_000_000 },
      ],
      25,
    ],
  ];
  it.each(rows)('%s', (_, spent, usd) => {
    expect(estimate(...spent)).toBeCloseTo(usd, 6);
  });
});

describe('the tokens of a turn', () => {
  it('are unknown without a message', () => {
    expect(turnMeter().usage()).toBeUndefined();
  });

  it('are those of its messages, each counted once, with the output of the complete ones', () => {
    const meter = turnMeter();
    const first = { ...nothing, message: 'a', inputTokens: 10, cacheReadTokens: 5 };
    meter.add({ ...first, outputTokens: 1 });
    meter.add({ ...first, outputTokens: 1 });
    meter.addOutput(40);
    meter.add({ ...nothing, message: 'b', inputTokens: 20, cacheWriteTokens: 7, outputTokens: 2 });
    expect(meter.usage()).toEqual({
      inputTokens: 30,
      outputTokens: 42,
      cacheReadTokens: 5,
      cacheWriteTokens: 7,
    });
  });

  it('do not count an output that belongs to no message', () => {
    const meter = turnMeter();
    meter.addOutput(40);
    expect(meter.usage()).toBeUndefined();
  });
});

describe('the cost that was counted before a turn', () => {
  const rows: [string, CostBefore, number][] = [
    ['none for older versions', { version: '2.1.197', transcriptTotalUsd: 3 }, 0],
    [
      'none for the last version that restarts totals',
      { version: '2.1.276', transcriptTotalUsd: 3 },
      0,
    ],
    [
      'for the first version that continues totals',
      { version: '2.1.277', transcriptTotalUsd: 3 },
      3,
    ],
    ['newer', { version: '2.1.325', transcriptTotalUsd: 3 }, 3],
    ['newer, not yet released', { version: '2.1.400-beta.1', transcriptTotalUsd: 3 }, 3],
    ['much newer', { version: '3.0.0', transcriptTotalUsd: 3 }, 3],
    ['a fresh session', { version: '2.1.325' }, 0],
    ['older and warm', { version: '2.1.197', processTotalUsd: 2 }, 2],
    ['newer and warm', { version: '2.1.325', processTotalUsd: 2, transcriptTotalUsd: 1 }, 2],
    [
      'an unknown version: too much rather than too little',
      { version: '', transcriptTotalUsd: 3 },
      0,
    ],
  ];
  it.each(rows)('%s', (_, before, usd) => {
    expect(alreadyCounted(before)).toBe(usd);
  });
});
