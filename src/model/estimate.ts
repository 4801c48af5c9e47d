import type { Cost } from './step-account.ts';

/** Whether the amount was computed from a price table instead of being reported. */
export const isEstimate = ({ from }: Cost): boolean => from !== 'told';
