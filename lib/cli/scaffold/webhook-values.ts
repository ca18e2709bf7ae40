import { valuesOf } from './api-values.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import type { TemplateValues } from './template.js';

/** The version of a kind that webhooks are for. */
export interface WebhookSubject {
  readonly project: Project;
  /** The version whose objects the operator is asked about. */
  readonly resource: ProjectResource;
  /** The version of the kind that is stored. */
  readonly first: ProjectResource;
  /** All other versions of the kind. */
  readonly others: readonly ProjectResource[];
}

/** What the template of webhooks is filled in with; it is of a kind of two versions at most. */
export function webhookValues(
  { project, resource, first, others }: WebhookSubject,
  webhooks: ProjectWebhooks,
): TemplateValues {
  const isFirst = resource.version === first.version;
  const later = isFirst ? (others[0] ?? resource) : resource;
  const { words, conditions } = valuesOf(project, later);
  const own = Object.entries(webhooks).filter(([, isThere]) => isThere === true);
  const admission = isAdmission(webhooks) ? ['admission'] : [];
  return {
    words: { ...words, v98alpha98: first.version, V98alpha98: capitalized(first.version) },
    conditions: new Set([...conditions, ...own.map(([word]) => word), ...admission]),
    style: styleOf(resource, isFirst),
  };
}

function styleOf({ external }: ProjectResource, isFirst: boolean): string {
  if (external === true) return 'foreign';
  return isFirst ? 'first' : 'later';
}

/** Whether the operator completes objects, or decides about them. */
export function isAdmission({ defaulting, validation }: ProjectWebhooks): boolean {
  return defaulting === true || validation === true;
}

/** What webhooks for a version other than the stored one add to their default names, which are taken. */
export function laterName({ resource, first }: WebhookSubject): string {
  return resource.version === first.version ? '' : `-${resource.version}`;
}

function capitalized(version: string): string {
  return version.charAt(0).toUpperCase() + version.slice(1);
}
