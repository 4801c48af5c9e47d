/** The difference between two JSON values, so that a reader of the first one can make the second. */

/** A value for a place. Without a value, the place no longer exists. */
export type Change = readonly [path: readonly Key[], value?: unknown];

type Key = string | number;

/** The lengths of arrays are also places. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  collect(before, after, [], changes);
  return changes;
}

function collect(before: unknown, after: unknown, path: readonly Key[], changes: Change[]): void {
  if (Object.is(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [at, part] of after.entries()) collect(before[at], part, [...path, at], changes);
    if (after.length < before.length) changes.push([[...path, 'length'], after.length]);
  } else if (isRecord(before) && isRecord(after)) {
    for (const key of Object.keys(after))
      collect(own(before, key), after[key], [...path, key], changes);
    for (const key of Object.keys(before))
      if (before[key] !== undefined && own(after, key) === undefined)
        changes.push([[...path, key]]);
  } else if (after !== undefined) changes.push([path, after]);
}

/** Parts that do not change stay the same objects. Each part that changes is copied once. */
export function changed(value: unknown, changes: readonly Change[]): unknown {
  const copies = new Set<unknown>();
  return changes.reduce<unknown>((now, change) => put(now, change, 0, copies), value);
}

function put(value: unknown, change: Change, depth: number, copies: Set<unknown>): unknown {
  const [path, next] = change;
  const key = path[depth];
  if (key === undefined) return next;
  if (Array.isArray(value)) {
    const copy: unknown[] = copies.has(value) ? value : [...value];
    copies.add(copy);
    if (key === 'length') copy.length = Number(next);
    else copy[Number(key)] = put(copy[Number(key)], change, depth + 1, copies);
    return copy;
  }
  // Without a prototype, a run may have any name.
  const copy: Record<Key, unknown> = copies.has(value) && isRecord(value) ? value : copyOf(value);
  copies.add(copy);
  if (depth === path.length - 1 && change.length === 1) delete copy[key];
  else copy[key] = put(own(copy, String(key)), change, depth + 1, copies);
  return copy;
}

const copyOf = (value: unknown): Record<Key, unknown> =>
  Object.assign(Object.create(null), isRecord(value) ? value : {});

/** A key may be the name of a run, such as "constructor". */
const own = (value: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(value, key) ? value[key] : undefined;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
