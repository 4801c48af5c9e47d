/** Closes a switch: the compiler checks that no case is missing. */
export function unreachable(value: never): never {
  throw new Error(`Bug: a case is not handled: ${JSON.stringify(value)}`);
}
