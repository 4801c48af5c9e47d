/**
 * An immutable map from strings: `set` and `delete` return a new map and share all but one path
 * with the old one. A run holds its agents in such a map. So an event costs the same with ten
 * agents or ten thousand, and an earlier run does not change.
 *
 * It is a hash trie: five bits of the hash choose the branch at each level. Keys with the same hash
 * share a leaf.
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
    const hash = hashOf(key);
    let node = this.#root;
    for (let shift = 0; node.kind === 'branch'; shift += BITS) {
      const child = node.children[slot(hash, shift)];
      if (!child) return undefined;
      node = child;
    }
    return node.entries.find(([k]) => k === key)?.[1];
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): PersistentMap<V> {
    const size = this.has(key) ? this.size : this.size + 1;
    return new PersistentMap(insert(this.#root, hashOf(key), 0, key, value), size);
  }

  delete(key: string): PersistentMap<V> {
    if (!this.has(key)) return this;
    return new PersistentMap(remove(this.#root, hashOf(key), 0, key) ?? emptyBranch, this.size - 1);
  }

  *[Symbol.iterator](): Generator<readonly [string, V]> {
    yield* entriesOf(this.#root);
  }
}

type Node<V> = Branch<V> | Leaf<V>;
interface Branch<V> {
  readonly kind: 'branch';
  readonly children: readonly (Node<V> | undefined)[];
}
interface Leaf<V> {
  readonly kind: 'leaf';
  readonly hash: number;
  readonly entries: readonly (readonly [string, V])[];
}

const BITS = 5;
const BRANCHES = 2 ** BITS;
const emptyBranch: Branch<never> = {
  kind: 'branch',
  children: Array.from({ length: BRANCHES }, () => undefined),
};

const slot = (hash: number, shift: number) => (hash >>> shift) & (BRANCHES - 1);

function hashOf(key: string): number {
  let hash = 2166136261;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 16777619);
  return hash >>> 0;
}

function insert<V>(node: Node<V>, hash: number, shift: number, key: string, value: V): Node<V> {
  if (node.kind === 'leaf') {
    if (node.hash === hash) {
      const others = node.entries.filter(([k]) => k !== key);
      return { kind: 'leaf', hash, entries: [...others, [key, value]] };
    }
    const split = withChild(emptyBranch, slot(node.hash, shift), node);
    return insert(split, hash, shift, key, value);
  }
  const child = node.children[slot(hash, shift)];
  const grown: Node<V> = child
    ? insert(child, hash, shift + BITS, key, value)
    : { kind: 'leaf', hash, entries: [[key, value]] };
  return withChild(node, slot(hash, shift), grown);
}

function remove<V>(node: Node<V>, hash: number, shift: number, key: string): Node<V> | undefined {
  if (node.kind === 'leaf') {
    const entries = node.entries.filter(([k]) => k !== key);
    return entries.length > 0 ? { ...node, entries } : undefined;
  }
  const child = node.children[slot(hash, shift)];
  if (!child) return node;
  const shrunk = withChild(node, slot(hash, shift), remove(child, hash, shift + BITS, key));
  return shrunk.children.some((c) => c !== undefined) ? shrunk : undefined;
}

function withChild<V>(branch: Branch<V>, index: number, child: Node<V> | undefined): Branch<V> {
  // Every branch has all its slots, so this copies memory, without a call for each slot.
  const children = branch.children.slice();
  children[index] = child;
  return { kind: 'branch', children };
}

function* entriesOf<V>(node: Node<V>): Generator<readonly [string, V]> {
  if (node.kind === 'leaf') yield* node.entries;
  else for (const child of node.children) if (child) yield* entriesOf(child);
}
