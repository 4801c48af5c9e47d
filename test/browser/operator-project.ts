/** Runs as an operator meets them: questions in markdown, inputs, results, failures and spent budgets. */
import type { RaymondSandbox } from '../real-agent/raymond-sandbox.ts';
import type { Reply } from '../real-agent/scripted-model.ts';

/** Starts all of them. The files of `OPERATOR_FLOWS` exist. */
export async function startOperatorRuns(sandbox: Pick<RaymondSandbox, 'run'>): Promise<void> {
  const start = (flow: string, id: string, ...more: readonly string[]) =>
    sandbox.run(flow, '--detach', '--workflow-id', id, ...more);
  for (const [n, input] of ISSUES.entries())
    await start('triage', `triage-${1041 + n}`, '--input', input);
  await start('sweep', 'sweep-7', '--input', 'All packages below packages/');
  await start('deploy', 'deploy-staging', '--input', 'Release 2.1.0 to staging');
  await start('migrate', 'migrate-orders', '--input', 'Make the list of orders fast again');
  await start('digest', 'digest-week-46', '--input', 'Week 46', '--budget', '0.01');
}

/** The answer of the model to a prompt of these runs. */
export function operatorReply(messages: string): Reply | undefined {
  if (!messages.includes(DIGEST)) return undefined;
  const usage = { input_tokens: 48_200, output_tokens: 3_100 };
  return { content: 'Half of it is written.\n\n<goto>START</goto>', usage };
}

const DIGEST = 'Write the digest of the week.';

const ISSUES = [
  'Login fails after a password reset (#1041)',
  'Export to CSV drops the last row (#1042)',
  'Dark mode: the chart labels are unreadable (#1043)',
  'Typo in the welcome mail (#1044)',
  'Search is slow for customers with more than 100,000 orders (#1045)',
  'Two-factor codes arrive late (#1046)',
];

const QUESTION = `The query of the order list reads **1.2 million rows** because \`orders.created_at\` has no index.

| way | downtime | effort |
| --- | --- | --- |
| \`CREATE INDEX CONCURRENTLY\` | none | 20 min |
| partition by month | 10 min | 2 days |

\`\`\`sql
CREATE INDEX CONCURRENTLY orders_created_at ON orders (created_at DESC);
\`\`\`

- [x] measured on a copy of production
- [x] rollback is written
- [ ] the on-call engineer knows

Which one shall I take?

1. Create the index
2. Partition by month
3. Only write the plan`;

export const OPERATOR_FLOWS: Readonly<Record<string, string>> = {
  'triage/START.sh': `case "$RAYMOND_RESULT" in *Typo*) echo '<result>Minor. Labelled good-first-issue.</result>';; *slow*) echo '<result>Needs a person: performance, affects 12 customers.</result>';; *) echo '<result>Confirmed, priority 2. Assigned to the web team.</result>';; esac\n`,
  'sweep/START.sh': `for n in auth billing core mail search ui web api; do echo "<fork package=\\"$n\\">CHECK</fork>"; done; echo '<join failed_next="REPORT" rest="continue">REPORT</join>'\n`,
  'sweep/CHECK.sh': `case "$package" in mail|search|web|api) echo "npm ERR! $package: 3 tests fail" >&2; exit 1;; *) echo "<result>$package is good</result>";; esac\n`,
  'sweep/REPORT.sh': `echo '<result>4 of 8 packages are good. mail, search, web and api have failing tests.</result>'\n`,
  'deploy/START.sh': `echo '<goto>PUSH</goto>'\n`,
  'deploy/PUSH.sh': `echo 'fatal: could not read from remote repository staging.' >&2\nexit 128\n`,
  'migrate/START.sh': `printf '<ask next="DONE">'; cat "$(dirname "$0")/question.txt"; printf '</ask>'\n`,
  'migrate/question.txt': QUESTION,
  'migrate/DONE.sh': `echo "<result>$RAYMOND_RESULT</result>"\n`,
  'digest/START.md': `${DIGEST}\n\n<goto>START</goto>\n`,
};
