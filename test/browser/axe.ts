import axeCore from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds: the rule, and the elements. */
export async function axe(page: Page, where: string, rules: string): Promise<readonly string[]> {
  await page.evaluate(axeCore.source);
  const { violations } = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], preload: false, ${rules} })`,
  )) as Findings;
  return violations.map(({ id, nodes }) => `${where}: ${id} ${nodes.map(({ html }) => html)}`);
}

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}
