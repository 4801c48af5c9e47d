/**
 * The strongly connected components of a graph (Tarjan). A component comes after the components
 * that it leads to. Without recursion, because a workflow may be a chain of thousands of states.
 */
export function componentsOf<T>(
  nodes: Iterable<T>,
  successors: (node: T) => readonly T[],
): readonly (readonly T[])[] {
  const components: T[][] = [];
  const index = new Map<T, number>();
  const low = new Map<T, number>();
  const open: T[] = [];
  const isOpen = new Set<T>();
  const lower = (node: T, value: number) => low.set(node, Math.min(low.get(node) ?? value, value));

  for (const root of nodes) {
    if (index.has(root)) continue;
    const calls: { node: T; next: Iterator<T> }[] = [];
    const enter = (node: T) => {
      index.set(node, index.size);
      lower(node, index.size - 1);
      open.push(node);
      isOpen.add(node);
      calls.push({ node, next: successors(node)[Symbol.iterator]() });
    };
    enter(root);
    for (let call = calls.at(-1); call; call = calls.at(-1)) {
      const { node, next } = call;
      const step = next.next();
      if (!step.done) {
        if (!index.has(step.value)) enter(step.value);
        else if (isOpen.has(step.value)) lower(node, index.get(step.value) ?? 0);
        continue;
      }
      calls.pop();
      const caller = calls.at(-1);
      if (caller) lower(caller.node, low.get(node) ?? 0);
      if (low.get(node) === index.get(node)) components.push(close(open, isOpen, node));
    }
  }
  return components;
}

function close<T>(open: T[], isOpen: Set<T>, root: T): T[] {
  const members = open.splice(open.lastIndexOf(root));
  for (const member of members) isOpen.delete(member);
  return members;
}
