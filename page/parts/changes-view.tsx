import { useMemo, useState } from 'preact/hooks';
import type { ChangedFile, ChangedFolder, Diff } from '../../src/look/diff-shape.ts';
import type { WholeRun } from '../../src/look/run-shape.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { counted, oneLine, visible } from '../lib/words.ts';
import { patchLines, treeOf } from '../stores/patch.ts';
import type { Chosen } from '../stores/route.ts';
import { AgentChoice } from './agent-choice.tsx';
import { Icon } from './icons.tsx';
import { DiffBody } from './tool-input.tsx';

interface Props {
  readonly run: WholeRun;
  readonly chosen: Chosen;
  readonly onChoose: (agent: string | undefined, step?: number) => void;
}

/** All files that the run, an agent or a step has changed. */
export function ChangesView({ run, chosen, onChoose }: Props) {
  const [agent, step] = chosen.kind === 'agent' ? [chosen.agent, chosen.step] : [];
  const query = new URLSearchParams({
    ...(agent !== undefined && { agent }),
    ...(step !== undefined && { step: String(step) }),
  });
  // A record is new only when a step ends.
  const path = `/api/runs/${encodeURIComponent(run.id)}/changes?${query}`;
  const { value, trouble, again } = useAnswer<Diff>(path, `${run.steps} ${run.counts.running}`);
  const files = value?.folders.flatMap((folder) => folder.files) ?? [];
  const sum = (of: 'added' | 'removed') => files.reduce((all, file) => all + file[of], 0);
  return (
    <>
      <div class="view-tools">
        <AgentChoice run={run} agent={agent} none="The whole run" onChoose={onChoose} />
        {step !== undefined && agent !== undefined && (
          <button type="button" class="button chip" onClick={() => onChoose(agent)}>
            Step {step} <Icon name="close" />
          </button>
        )}
        <span class="faint" role="status">
          {value && `${counted(files.length, 'file')} changed`}
        </span>
        {value && (
          <span class="counts">
            <span class="added">+{sum('added').toLocaleString('en')}</span>{' '}
            <span class="removed">−{sum('removed').toLocaleString('en')}</span>
          </span>
        )}
        <span class="grow" />
        {value && <span class="faint">{gapsText(value)}</span>}
      </div>
      {trouble ? (
        <div class="empty" role="alert">
          <Icon name="warning" />
          <h2>{trouble.message}</h2>
          <p>{trouble.remedy}</p>
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        </div>
      ) : value === undefined ? (
        <div class="empty" aria-busy="true">
          <p>Comparing the recorded files</p>
        </div>
      ) : files.length === 0 && value.folders.every(({ problem }) => problem === null) ? (
        <Nothing diff={value} />
      ) : (
        <Folders folders={value.folders} />
      )}
    </>
  );
}

function gapsText({ unrecorded, running }: Diff): string {
  const parts = [
    ...(running > 0 ? [`${counted(running, 'step')} not over yet`] : []),
    ...(unrecorded > 0 ? [`${counted(unrecorded, 'step')} without a record`] : []),
  ];
  return parts.join(', ');
}

function Nothing({ diff: { recorded, unrecorded } }: { readonly diff: Diff }) {
  return (
    <div class="empty">
      <Icon name="branch" />
      <h2>{recorded > 0 ? 'No file has changed' : 'No files were recorded'}</h2>
      <p>
        {recorded > 0
          ? 'The recorded steps left all files as they were. Files that git ignores are not recorded.'
          : unrecorded > 0
            ? 'Raymond records files in git repositories, before and after prompts and long scripts. With --checkpoints steps, it records short scripts, too.'
            : 'No step is over yet.'}
      </p>
    </div>
  );
}

function Folders({ folders }: { readonly folders: readonly ChangedFolder[] }) {
  const all = folders.flatMap((folder) => folder.files);
  // Many lines would make the page slow, and nobody reads them all.
  const isShort = all.reduce((sum, file) => sum + file.added + file.removed, 0) < MOST_OPEN;
  return (
    <div class="changes">
      <nav class="scroll file-tree" aria-label="Changed files">
        {folders.map((folder, at) => (
          <Tree key={folder.folder} folder={folder} at={at} hasName={folders.length > 1} />
        ))}
      </nav>
      <section class="scroll patches" aria-label="Changes">
        {folders.map((folder, at) => (
          <Patches key={folder.folder} folder={folder} at={at} isOpen={isShort} />
        ))}
      </section>
    </div>
  );
}

const MOST_OPEN = 1_500;

interface FolderProps {
  readonly folder: ChangedFolder;
  readonly at: number;
}

const anchorOf = (at: number, { path }: ChangedFile) => `file-${at}-${path}`;

function Tree({ folder, at, hasName }: FolderProps & { readonly hasName: boolean }) {
  const rows = useMemo(() => treeOf(folder.files), [folder.files]);
  const show = (file: ChangedFile) => {
    const target = document.getElementById(anchorOf(at, file));
    if (target instanceof HTMLDetailsElement) target.open = true;
    target?.scrollIntoView({ block: 'start' });
    target?.querySelector('summary')?.focus({ preventScroll: true });
  };
  return (
    <>
      {hasName && <p class="faint small anywhere">{nameOf(folder)}</p>}
      <ul>
        {rows.map(({ depth, name, file }, index) => (
          <li key={index} style={{ paddingLeft: `${depth * 14}px` }}>
            {file ? (
              <button type="button" class={`file kind-${file.kind}`} onClick={() => show(file)}>
                <span class="letter" title={file.kind} aria-hidden="true">
                  {LETTERS[file.kind]}
                </span>
                <span class="clip grow">{oneLine(name, 200)}</span>
                <span class="visually-hidden">{file.kind}</span>
                <Counts file={file} />
              </button>
            ) : (
              <span class="folder clip">{oneLine(name, 200)}</span>
            )}
          </li>
        ))}
      </ul>
      {folder.more > 0 && <p class="faint small">{counted(folder.more, 'more file')}</p>}
    </>
  );
}

const LETTERS: Readonly<Record<ChangedFile['kind'], string>> = {
  added: 'A',
  changed: 'M',
  deleted: 'D',
  moved: 'R',
};

const nameOf = ({ folder, branch }: ChangedFolder) => visible(branch ?? folder);

function Counts({ file: { added, removed, omitted } }: { readonly file: ChangedFile }) {
  if (omitted !== null) return <span class="faint small">{omitted}</span>;
  return (
    <span class="counts small">
      {added > 0 && <span class="added">+{added}</span>}{' '}
      {removed > 0 && <span class="removed">−{removed}</span>}
    </span>
  );
}

function Patches({ folder, at, isOpen }: FolderProps & { readonly isOpen: boolean }) {
  const { branch, merged, others, problem } = folder;
  return (
    <>
      <header class="folder-head">
        <code class="anywhere">{visible(folder.folder)}</code>
        {branch !== null && (
          <span class="faint anywhere">
            <Icon name="branch" /> {oneLine(branch)}
            {merged !== null && (merged ? ', merged' : ', not merged')}
          </span>
        )}
        {folder.agents.length > 1 && (
          <span class="faint">{counted(folder.agents.length, 'agent')}</span>
        )}
        {others.length > 0 && (
          <span class="tone-wait">
            <span class="told">
              {oneLine(others.slice(0, 3).join(', '), 120)}
              {others.length > 3 && ` and ${others.length - 3} more`} worked here at the same time,
              so their changes may be included.
            </span>
          </span>
        )}
      </header>
      {problem !== null && (
        <p class="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      {inTreeOrder(folder.files).map((file) => (
        <Patch key={file.path} id={anchorOf(at, file)} file={file} isOpen={isOpen} />
      ))}
    </>
  );
}

const inTreeOrder = (files: readonly ChangedFile[]) =>
  treeOf(files).flatMap(({ file }) => file ?? []);

interface PatchProps {
  readonly id: string;
  readonly file: ChangedFile;
  readonly isOpen: boolean;
}

function Patch({ id, file, isOpen }: PatchProps) {
  const [wasOpened, setOpened] = useState(isOpen);
  const lines = useMemo(
    () => (wasOpened && file.patch !== null ? patchLines(file.patch) : []),
    [wasOpened, file.patch],
  );
  return (
    <details
      class="diff patch"
      id={id}
      open={isOpen}
      onToggle={(event) => event.currentTarget.open && setOpened(true)}
    >
      <summary>
        <span class={`letter kind-${file.kind}`} aria-hidden="true">
          {LETTERS[file.kind]}
        </span>
        <code class="clip grow">
          {file.was !== null && <span class="faint">{oneLine(file.was, 300)} → </span>}
          {oneLine(file.path, 300)}
        </code>
        <span class="visually-hidden">{file.kind}</span>
        <Counts file={file} />
      </summary>
      {lines.length > 0 && <DiffBody lines={lines} most={MOST_LINES} />}
      {wasOpened && lines.length === 0 && <p class="faint small why">{whyEmpty(file)}</p>}
    </details>
  );
}

const MOST_LINES = 2_000;

function whyEmpty({ omitted, kind }: ChangedFile): string {
  switch (omitted) {
    case 'binary':
      return 'The file is no text.';
    case 'large':
      return 'The file is too large to show here.';
    case 'many':
      return 'Too many files have changed to show all of them here.';
    case null:
      return kind === 'moved' ? 'Only its path has changed.' : 'It has no lines.';
  }
}
