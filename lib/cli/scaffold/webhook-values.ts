import { valuesOf } from './api-values.js';
import type { Project, ProjectResource, ProjectWebhooks } from './project-file.js';
import type { TemplateValues } from './template.js';

/** The version of a kind that gets webhooks. */
export interface WebhookSubject {
  readonly project: Project;
  /** The version whose objects the webhooks receive. */
  readonly resource: ProjectResource;
  /** The stored version of the kind. */
  readonly first: ProjectResource;
  /** All other versions of the kind. */
  readonly others: readonly ProjectResource[];
}

/** Returns the values of the webhook template, which covers at most two versions of a kind. */
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

/** Whether the webhooks default or validate objects. */
export function isAdmission({ defaulting, validation }: ProjectWebhooks): boolean {
  return defaulting === true || validation === true;
}

/** Returns the suffix of default webhook names for a version other than the stored one. */
export function laterName({ resource, first }: WebhookSubject): string {
  return resource.version === first.version ? '' : `-${resource.version}`;
}

function capitalized(version: string): string {
  return version.charAt(0).toUpperCase() + version.slice(1);
}
