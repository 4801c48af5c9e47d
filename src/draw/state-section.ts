import type { edgesByEnd, Graph, GraphEdge, GraphNode } from '../graph/graph.ts';
import { type Overlay, useOf } from '../graph/overlay.ts';
import { escapeText } from '../model/escape.ts';
import type { State, Workflow } from '../model/workflow.ts';
import type { Reading } from './heat.ts';
import { markedText } from './marked-text.ts';
import { limitFacts, policyFacts } from './policy-facts.ts';
import { shortCost, shortCount } from './words.ts';

export interface Page {
  readonly workflow: Workflow;
  readonly graph: Graph;
  readonly overlay: Overlay | undefined;
  readonly reading: Reading;
  readonly nodes: ReadonlyMap<string, { readonly node: GraphNode; readonly index: number }>;
  readonly edges: ReturnType<typeof edgesByEnd>;
}

export function stateSection(page: Page, node: GraphNode): string {
  const { workflow, graph } = page;
  const state = 'state' in node ? workflow.states.get(node.state) : undefined;
  if (!state) return '';
  const index = page.nodes.get(node.id)?.index;
  const isFirst = node.id === graph.entry;
  return `<section id="state-${index}"${isFirst ? ' class="first"' : ''}>
<h2>${escapeText(state.name)}</h2>
<p class="kind">${escapeText(isFirst ? `${node.detail} · entry` : node.detail)}</p>
${[useFacts(page, node), policySection(state, page.workflow), ways(page, node), textOf(state)].join('')}
</section>`;
}

/** The link to the section of a state. */
export function anchorOf({ nodes }: Page, node: GraphNode): string | undefined {
  return 'state' in node ? `#state-${nodes.get(node.id)?.index}` : undefined;
}

function useFacts({ overlay, reading }: Page, node: GraphNode): string {
  const use = overlay && useOf(overlay, node.id);
  if (!overlay) return '';
  const title = `In ${reading.of}`;
  if (!use) return titled(title, '<p class="how">not visited</p>');
  return titled(
    title,
    facts([
      ['visits', shortCount(use.visits)],
      ['time', `${(use.timeMs / 1000).toFixed(1)} s`],
      ['cost', shortCost(use, 4)],
    ]),
  );
}

function policySection(state: State, workflow: Workflow): string {
  if (state.kind === 'broken') return '';
  const [title, found] =
    state.kind === 'prompt'
      ? ['Front matter', policyFacts(state.policy, workflow)]
      : ['Limits', limitFacts(state.limits)];
  return found.length > 0 ? titled(title, facts(found)) : '';
}

function ways(page: Page, node: GraphNode): string {
  const item = (edge: GraphEdge, end: string) => {
    const other = page.nodes.get(end)?.node;
    if (!other) return '';
    const anchor = anchorOf(page, other);
    const label = escapeText(other.label);
    const name = anchor ? `<a href="${anchor}">${label}</a>` : label;
    return `<li>${name} <span class="how">${escapeText(howOf(edge))}</span></li>`;
  };
  const list = (title: string, items: readonly string[]) =>
    items.length > 0 ? titled(title, `<ul>${[...new Set(items)].join('')}</ul>`) : '';
  const out = page.edges.from.get(node.id) ?? [];
  const into = page.edges.to.get(node.id) ?? [];
  return (
    list(
      'Leads to',
      out.map((edge) => item(edge, edge.to)),
    ) +
    list(
      'Reached from',
      into.map((edge) => item(edge, edge.from)),
    )
  );
}

function howOf({ label, role, tag }: GraphEdge): string {
  return role === 'timeout' ? `${tag ?? 'ask'}, ${label}` : label;
}

function textOf(state: State): string {
  if (state.kind === 'broken') {
    const faults = state.diagnostics.map(
      ({ line, message }) => `<li>Line ${line}: ${escapeText(message)}</li>`,
    );
    return titled('Cannot be read', `<ul>${faults.join('')}</ul>`);
  }
  const title = state.kind === 'prompt' ? 'Prompt' : 'Script';
  return titled(title, `<pre>${markedText(state)}</pre>`);
}

function titled(title: string, content: string): string {
  return `<h3>${title}</h3>\n${content}\n`;
}

function facts(pairs: readonly (readonly [string, string])[]): string {
  const rows = pairs.map(
    ([name, value]) => `<dt>${escapeText(name)}</dt><dd><code>${escapeText(value)}</code></dd>`,
  );
  return `<dl>${rows.join('')}</dl>`;
}
