/** The verbs for doors without a terminal: the server and the MCP server. */
import { realpath } from 'node:fs/promises';
import { dirname, resolve as resolvePath } from 'node:path';
import { projectArea } from '../files/project-area.ts';
import { openRun } from '../host/open-run.ts';
import { occasionForm, triggerListForm } from '../look/trigger-form.ts';
import type { Door, Notice } from '../model/notice.ts';
import type { PermissionDecision } from '../model/permission.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import { UserError } from '../model/user-error.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { imageType, textIn } from '../parse/file-kind.ts';
import type { StepKey } from '../ports.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import { type GivenOptions, optionsFrom } from '../world/config/given-options.ts';
import { homeFolder } from '../world/config/user-folders.ts';
import { noticeText } from '../world/diagnostic-line.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';
import { answer, askedItem, decide } from './answer.ts';
import { type AnswerFile, keepFile, projectFiles } from './answer-files.ts';
import { type BoundRequest, bound } from './bound.ts';
import { boundText } from './bound-words.ts';
import { check } from './check.ts';
import { diff, type WantedDiff } from './diff.ts';
import { contentOf, file, files } from './files.ts';
import { type ListWish, list } from './list.ts';
import { attend, followStep, look, lookAtContext, lookAtStep } from './look.ts';
import type { WantedItem } from './open-items.ts';
import { type ProposalWish, propose } from './propose.ts';
import { prune } from './prune.ts';
import { refuseInside } from './refuse-inside.ts';
import { replay } from './replay.ts';
import { type ResumeOptions, relaunch } from './resume.ts';
import { rewind } from './rewind.ts';
import { say } from './say.ts';
import { launch, type StartOptions } from './start.ts';
import { stop } from './stop.ts';
import { triggers } from './triggers.ts';
import { planTry, type TryWish, tryVariants, variants } from './try-variants.ts';

export type RunControl = ReturnType<typeof forPrograms>;

/**
 * It owns no run: background processes or workers carry them, and messages reach them through the store.
 * `unchangedSince`: only workflows that have not changed since then can be started. `named`: the path of a
 * workflow that the person has named, which may be outside of the project.
 */
export function forPrograms(
  around: Surroundings,
  {
    unchangedSince,
    named,
  }: Pick<StartOptions, 'unchangedSince'> & { readonly named?: string | undefined } = {},
) {
  const { store, cwd, project } = around;
  const root = dirname(project.folder);
  return {
    /** Starts a workflow of the project. Resolves when the run has begun. */
    async start(path: string, given: GivenOptions, workflowId?: string) {
      const options = optionsFrom(given, 'run', root);
      // Before the load, because a caller must not learn what exists elsewhere.
      const isNamed = path === named;
      if (!isNamed) await refuseOutside(cwd, resolvePath(cwd, path));
      const config = await readConfiguration(project);
      const { ref } = await looseLibrary(cwd, config.options).load(path);
      if (!isNamed) await refuseOutside(cwd, ref);
      const { door, warnings } = collecting();
      const chosen = { ...options, ...(workflowId !== undefined && { workflowId }) };
      const launched = launch(around, ref, { ...chosen, unchangedSince }, door);
      const { id } = await launched.catch((error) => {
        throw withDetails(error, warnings);
      });
      return { id, warnings };
    },
    /** Continues a run. Resolves when it has begun to continue, or if it is completed. */
    async resume(
      id: string,
      given: GivenOptions,
      consent: Pick<ResumeOptions, 'fresh' | 'acceptChanges' | 'trustRun'>,
    ) {
      await openRun(store, id);
      await refuseInside(around, id, 'resume it');
      const { door, warnings } = collecting();
      await relaunch(around, id, { ...optionsFrom(given, 'resume', root), ...consent }, door);
      return { id, warnings };
    },
    /** Resolves when the run is asked to stop, and not when it has stopped. */
    async stop(id: string, how: 'drain' | 'now') {
      const begun = await stop(around, id, how);
      if (begun.kind === 'left') return { isOver: true, wait: async () => 'stopped' as const };
      return { isOver: false, wait: begun.wait };
    },
    async list(wish?: ListWish) {
      return inTexts(await list(around, wish));
    },
    async look(id: string) {
      return inTexts(await look(around, id));
    },
    /** What starts runs without a person. */
    async triggers() {
      return triggerListForm(await triggers(around));
    },
    /** Lets a delivery happen again. The request is the consent. */
    async replay(id: string) {
      return occasionForm({ occasion: await replay(around, id), outcome: { kind: 'due' } });
    },
    /** What the model saw at the end of a step. */
    context: (id: string, key: StepKey) => lookAtContext(around, id, key),
    diff: (id: string, wanted?: WantedDiff) => diff(around, id, wanted),
    /** The most that a run of a workflow of the project can use. */
    async bound(path: string, request?: BoundRequest) {
      await refuseOutside(cwd, resolvePath(cwd, path));
      const report = await bound(around, path, request);
      return { ...report, text: boundText(report) };
    },
    /** Everything that can be found out about a workflow of the project without running it. */
    async check(path: string) {
      await refuseOutside(cwd, resolvePath(cwd, path));
      return check(around, path);
    },
    /** Checks a proposal, and stores it for a person. */
    propose: (wish: ProposalWish) => propose(around, wish),
    attend: (id: string, options?: Parameters<typeof attend>[2]) => attend(around, id, options),
    /** All messages of a step, until it is over. */
    async *followStep(id: string, key: StepKey, isOver: Promise<unknown>) {
      const { step } = await lookAtStep(around, id, key);
      yield* followStep(around, { ...step, cursor: 0 }, isOver);
    },
    /** Answers the question of an agent, or the only question of the run. */
    async answer(id: string, agent: string | undefined, text: string, sent: SentFiles = {}) {
      const asked = await askedItem(around, id, { agent, by: 'text' });
      const { files = await projectFiles(around, sent.paths ?? [], asked) } = sent;
      await answer(around, asked, text, files);
      return { agent: asked.item.agent, isDelivered: asked.owner !== undefined };
    },
    /** The files of the questions and answers of a run. */
    files: (id: string) => files(around, id),
    file: async (id: string, named: string) => {
      const found = await file(around, id, named);
      const content = await contentOf(around, id, found);
      return { ...found, content, image: imageType(content), text: textIn(content) };
    },
    /** Stores a file for an answer, which then names it by its hash. */
    keepFile: (id: string, content: AsyncIterable<Uint8Array>) => keepFile(around, id, content),
    /** Decides about a permission request, or about the only one of the run or of the agent. */
    async decide(id: string, wanted: Omit<WantedItem, 'by'>, decision: PermissionDecision) {
      const asked = await askedItem(around, id, { ...wanted, by: 'decision' });
      const { agent, request } = await decide(around, asked, decision);
      return { agent, request, isDelivered: asked.owner !== undefined };
    },
    /** Says something to an agent, or to the only agent of the run. */
    say: (id: string, agent: string | undefined, text: string) => say(around, id, text, agent),
    /** Removes a run, unless its folder has work that exists nowhere else. The request is the consent. */
    async prune(id: string) {
      const { door, warnings } = collecting();
      const removing = await prune(around, { ids: [id] }, door);
      const work: string[] = [];
      for await (const pruned of removing ?? [])
        work.push(...pruned.work.map(({ path, why }) => `${path} ${why}`));
      return { id, isRemoved: work.length === 0, work, warnings };
    },
    variants: (id: string) => variants(around, id),
    /** Begins variants of a run. The request is the consent, and names files of the project only. */
    async tryVariants(id: string, wish: Omit<TryWish, 'trustRun'>) {
      await openRun(store, id);
      for (const named of wish.with ?? []) {
        const path = named.slice(named.search(/^[^=/]+=/) === 0 ? named.indexOf('=') + 1 : 0);
        await refuseOutside(cwd, resolvePath(cwd, path));
      }
      const { door, warnings } = collecting();
      const planned = await planTry(around, id, wish, door).catch((error) => {
        throw withDetails(error, warnings);
      });
      const begun = planned.variants.map((one) => one.id);
      if (begun.length > MOST_VARIANTS)
        throw wrongUsage(
          `The request asks for ${begun.length} variants, which would all work at once.`,
          `Ask for at most ${MOST_VARIANTS}, or try them in a terminal: raymond try ${id}`,
        );
      const refused: Pick<UserError, 'code' | 'message' | 'remedy'>[] = [];
      const left = new Set<string>();
      await tryVariants(around, planned, { detach: true }, door, (news) => {
        if (news.kind !== 'left') return;
        const { code, message, remedy } = news.problem;
        refused.push({ code, message, remedy });
        left.add(news.variant.id);
      });
      return { variants: begun.filter((one) => !left.has(one)), refused, warnings };
    },
    /** Takes a run back. The request is the consent. */
    async rewind(id: string, request: RewindRequest, { files }: { readonly files: boolean }) {
      await openRun(store, id);
      const { door } = collecting();
      return (await rewind(around, id, request, { files, agreed: true }, door)).event;
    },
  };
}

const MOST_VARIANTS = 16;
/** Files that are stored already, or paths in the project. */
interface SentFiles {
  readonly files?: readonly AnswerFile[] | undefined;
  readonly paths?: readonly string[] | undefined;
}

const inTexts = <T extends { readonly notices: readonly Notice[] }>({ notices, ...found }: T) => ({
  ...found,
  warnings: notices.map(noticeText),
});

/** A door that returns what it is told. It can ask no person: consent is part of a request. */
function collecting() {
  const warnings: string[] = [];
  const door: Door = {
    notice: (notice) => void warnings.push(noticeText(notice)),
    agree: async () => undefined,
  };
  return { door, warnings };
}

/** A program shows only the error, so the error has what a terminal would have printed above it. */
function withDetails(error: unknown, details: readonly string[]): unknown {
  if (!(error instanceof UserError) || details.length === 0) return error;
  const { code, message, remedy, place } = error;
  return new UserError(code, [message, ...details].join(' '), remedy, place);
}

/** A workflow is code. A program may start what the project contains, and a person any other. */
async function refuseOutside(cwd: string, ref: string): Promise<void> {
  const area = await projectArea(cwd, homeFolder());
  const path = await realpath(ref).catch(() => ref);
  if (await area.holds(path)) return;
  throw new UserError(
    'outside-project',
    `The workflow ${ref} is not in this project.`,
    'Name a workflow inside the project, or start it on the command line.',
  );
}
