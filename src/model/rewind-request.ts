/** Where to go: to the moment before a step, or to the moment before the last rewind. */
export type RewindRequest =
  | { readonly kind: 'to'; readonly agent: string; readonly step: number }
  | { readonly kind: 'undo' };
