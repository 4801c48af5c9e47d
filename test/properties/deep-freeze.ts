/** Makes every change of a value throw, so that a test notices code that changes its arguments. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  if (Symbol.iterator in value && typeof value[Symbol.iterator] === 'function') {
    for (const part of value as Iterable<unknown>) deepFreeze(part);
  }
  return value;
}
