import type { Cost } from './step-account.ts';

/** Whether the amount was computed with a table of prices, and not reported. */
export const isEstimate = ({ from }: Cost): boolean => from !== 'told';
