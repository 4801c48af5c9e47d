import { onTestFinished } from 'vitest';
import { Project } from './raymond.ts';

/** A project whose processes and files are removed after the test. */
export function newProject(files: Readonly<Record<string, string>>, name?: string): Project {
  const project = new Project(files, name);
  onTestFinished(() => project.dispose());
  return project;
}
