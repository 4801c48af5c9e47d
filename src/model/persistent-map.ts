/**
 * An immutable map from strings: `set` and `delete` return a new map and share all but one path with
 * the old one. A run keeps its agents in such a map, so an event costs the same with ten agents or ten
 * thousand, and an earlier run does not change.
 *
 * It is a hash trie: five bits of the hash choose the branch at each level. A branch has an array of
 * its children only, because each change copies it. Keys with the same hash are a chain of leaves.
 */
export class PersistentMap<V> {
  readonly size: number;
  readonly #root: Node<V>;

  private constructor(root: Node<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(emptyBranch, 0);
  }

  static from<V>(entries: Iterable<readonly [string, V]>): PersistentMap<V> {
    let map = PersistentMap.empty<V>();
    for (const [key, value] of entries) map = map.set(key, value);
    return map;
  }

  get(key: string): V | undefined {
    return leafOf(this.#root, hashOf(key), key)?.value;
  }

  has(key: string): boolean {
    return leafOf(this.#root, hashOf(key), key) !== undefined;
  }

  set(key: string, value: V): PersistentMap<V> {
    const hash = hashOf(key);
    const size = leafOf(this.#root, hash, key) ? this.size : this.size + 1;
    return new PersistentMap(insert(this.#root, hash, 0, key, value), size);
  }

  delete(key: string): PersistentMap<V> {
    const hash = hashOf(key);
    if (!leafOf(this.#root, hash, key)) return this;
    return new PersistentMap(remove(this.#root, hash, 0, key) ?? emptyBranch, this.size - 1);
  }

  *[Symbol.iterator](): Generator<readonly [string, V]> {
    yield* entriesOf(this.#root);
  }
}

type Node<V> = Branch<V> | Leaf<V>;
interface Branch<V> {
  readonly kind: 'branch';
  /** One bit for each slot that has a child. */
  readonly slots: number;
  /** In the order of their slots. */
  readonly children: readonly Node<V>[];
}
interface Leaf<V> {
  readonly kind: 'leaf';
  readonly hash: number;
  readonly key: string;
  readonly value: V;
  /** Another key with the same hash. */
  readonly next: Leaf<V> | undefined;
}

const BITS = 5;
const emptyBranch: Branch<never> = { kind: 'branch', slots: 0, children: [] };

const slotOf = (hash: number, shift: number) => 1 << ((hash >>> shift) & (2 ** BITS - 1));

/** The position of the child in a slot: the number of children in the slots before it. */
function positionOf(slots: number, slot: number): number {
  let bits = slots & (slot - 1);
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function hashOf(key: string): number {
  let hash = 2166136261;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 16777619);
  return hash >>> 0;
}

function leafOf<V>(root: Node<V>, hash: number, key: string): Leaf<V> | undefined {
  let node: Node<V> | undefined = root;
  for (let shift = 0; node?.kind === 'branch'; shift += BITS) {
    const slot = slotOf(hash, shift);
    node = (node.slots & slot) === 0 ? undefined : node.children[positionOf(node.slots, slot)];
  }
  let leaf: Leaf<V> | undefined = node;
  while (leaf && leaf.key !== key) leaf = leaf.next;
  return leaf;
}

function insert<V>(node: Node<V>, hash: number, shift: number, key: string, value: V): Node<V> {
  if (node.kind === 'leaf') {
    if (node.hash === hash) return { kind: 'leaf', hash, key, value, next: without(node, key) };
    const slot = slotOf(node.hash, shift);
    return insert({ kind: 'branch', slots: slot, children: [node] }, hash, shift, key, value);
  }
  const { slots, children } = node;
  const slot = slotOf(hash, shift);
  const position = positionOf(slots, slot);
  const child = (slots & slot) === 0 ? undefined : children[position];
  if (!child) {
    const leaf: Leaf<V> = { kind: 'leaf', hash, key, value, next: undefined };
    return { kind: 'branch', slots: slots | slot, children: children.toSpliced(position, 0, leaf) };
  }
  return withChild(node, position, insert(child, hash, shift + BITS, key, value));
}

function remove<V>(node: Node<V>, hash: number, shift: number, key: string): Node<V> | undefined {
  if (node.kind === 'leaf') return without(node, key);
  const slot = slotOf(hash, shift);
  const position = positionOf(node.slots, slot);
  const child = node.children[position];
  if ((node.slots & slot) === 0 || !child) return node;
  const shrunk = remove(child, hash, shift + BITS, key);
  if (shrunk) return withChild(node, position, shrunk);
  if (node.children.length === 1) return undefined;
  return {
    kind: 'branch',
    slots: node.slots & ~slot,
    children: node.children.toSpliced(position, 1),
  };
}

function withChild<V>(branch: Branch<V>, position: number, child: Node<V>): Branch<V> {
  // This copies memory, without a call for each child.
  const children = branch.children.slice();
  children[position] = child;
  return { kind: 'branch', slots: branch.slots, children };
}

/** The leaves of a chain without that of a key. */
function without<V>(leaf: Leaf<V>, key: string): Leaf<V> | undefined {
  if (leaf.key === key) return leaf.next;
  return { ...leaf, next: leaf.next && without(leaf.next, key) };
}

function* entriesOf<V>(node: Node<V>): Generator<readonly [string, V]> {
  if (node.kind === 'branch') for (const child of node.children) yield* entriesOf(child);
  else
    for (let leaf: Leaf<V> | undefined = node; leaf; leaf = leaf.next) yield [leaf.key, leaf.value];
}
