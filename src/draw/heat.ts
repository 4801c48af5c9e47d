import { END } from '../graph/graph.ts';
import { type Overlay, useOf } from '../graph/overlay.ts';
import type { PictureNode } from './picture.ts';

export const HEATS = ['cost', 'time'] as const;
export type Heat = (typeof HEATS)[number];

/** The subject of an overlay, and the meaning of its colours. */
export interface Reading {
  readonly heat?: Heat | undefined;
  /** `this run`, or how many runs the figures are the mean of. */
  readonly of: string;
}

export const THIS_RUN: Reading = { of: 'this run' };

/** The heat of a node, from 0 to 1, relative to the hottest node. References have none. */
export function heatOf(overlay: Overlay | undefined, heat: Heat | undefined) {
  if (!overlay || !heat) return () => undefined;
  const valueAt = (id: string) => {
    const use = useOf(overlay, id);
    return (heat === 'cost' ? use?.costUsd : use?.timeMs) ?? 0;
  };
  const most = Math.max(0, ...[...overlay.nodes.keys()].filter((id) => id !== END).map(valueAt));
  return ({ kind, shows }: PictureNode) =>
    kind === 'reference' || most === 0 ? undefined : valueAt(shows.id) / most;
}
