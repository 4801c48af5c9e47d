import type { ProjectRow } from '../../src/serve/shapes/changes.ts';
import { useStore } from '../lib/store.ts';
import { counted, usd, visible } from '../lib/words.ts';
import { projectLink } from '../stores/route.ts';
import { Icon } from './icons.tsx';
import { Pill } from './status.tsx';
import { useTools } from './tools.ts';

/** The projects of the user: what waits, works and failed in each. A link leads to its own page. */
export function ProjectsPage() {
  const tools = useTools();
  const projects = useStore(tools.runs.projects);
  const own = useStore(tools.runs.project)?.folder;
  if (!projects)
    return (
      <div class="empty" aria-busy="true">
        <p>Counting the runs of your projects</p>
      </div>
    );
  const waiting = projects.reduce((sum, project) => sum + project.waiting, 0);
  return (
    <div class="overview scroll">
      <header>
        <h1>Projects</h1>
        <p class="faint">
          {counted(projects.length, 'project')} with runs of yours,{' '}
          {waiting === 0 ? 'nothing waits for you' : `${waiting} waiting for you`}
        </p>
      </header>
      <ul class="projects">
        {projects.toSorted(byNeed).map((project) => (
          <li key={project.folder}>
            <Project project={project} isShown={project.folder === own} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const byNeed = (a: ProjectRow, b: ProjectRow) =>
  b.waiting - a.waiting || b.active - a.active || (a.folder < b.folder ? -1 : 1);

interface Props {
  readonly project: ProjectRow;
  readonly isShown: boolean;
}

function Project({ project, isShown }: Props) {
  const { name, folder, runs, active, failed, waiting, cost_usd, problem } = project;
  const place = (hash: string) => projectLink(folder, hash);
  return (
    <article class="card project-card" aria-label={`Project ${visible(name)}`}>
      <h2 class="line">
        <Icon name="folder" />
        <a class="clip" href={place('#/')} aria-current={isShown ? 'page' : undefined}>
          {visible(name)}
        </a>
        {isShown && <Pill tone="rest">shown</Pill>}
      </h2>
      <p class="faint small anywhere">{visible(folder)}</p>
      {problem === null ? (
        <>
          <p class="line pills">
            {waiting > 0 && (
              <a href={place('#/waiting')}>
                <Pill tone="wait">{`${waiting} waiting for you`}</Pill>
              </a>
            )}
            {active > 0 && <Pill tone="run">{`${active} active`}</Pill>}
            {failed > 0 && <Pill tone="fail">{`${failed} failed`}</Pill>}
          </p>
          <p class="small faint">
            {counted(runs, 'run')}, {usd(cost_usd)} in total
          </p>
        </>
      ) : (
        <p class="small tone-fail">
          <span class="told">{visible(problem)}</span>
        </p>
      )}
    </article>
  );
}
