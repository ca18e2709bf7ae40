import type { CommandContext } from '../command-context.js';
import { UsageError } from '../usage-error.js';
import { builtInType } from './built-in-kinds.js';
import { carryOut } from './carry-out.js';
import { openProject } from './open-project.js';
import type { PlannedFile } from './plan-files.js';
import { isSameKind, projectFileName, webhookWords, withResource } from './project-file.js';
import type { Project, ProjectWebhooks } from './project-file.js';
import type { ScaffoldOptions } from './scaffold-command.js';
import { forTestRunner } from './test-runner.js';
import { webhookFiles } from './webhook-files.js';
import type { WebhookSubject } from './webhook-values.js';

/** Options of `operator-builder create webhook`. */
export interface CreateWebhookOptions extends ScaffoldOptions {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly defaulting: boolean;
  readonly validation: boolean;
  readonly conversion: boolean;
}

/**
 * Adds webhooks for an existing version of a kind to a project.
 * @throws UsageError the webhooks are impossible or exist
 * @throws OperatorError `InvalidConfig`: not a project, or a file can't be changed
 */
export async function createWebhook(
  options: CreateWebhookOptions,
  context: CommandContext,
): Promise<readonly PlannedFile[]> {
  const { folder, path, text, project } = await openProject(options, context);
  const subject = subjectOf(project, options);
  const asked = askedOf(subject, options);
  const { resource } = subject;
  const { force } = options;
  const files = await webhookFiles({ ...subject, wanted: asked, folder, force });
  const noted = withResource(
    text,
    { ...resource, webhooks: { ...resource.webhooks, ...asked } },
    path,
  );
  const wanted = [...files, { type: 'edited', path: projectFileName, text: noted } as const];
  const next = ['npm test', 'npm run deploy'];
  return carryOut({ wanted: forTestRunner(wanted, project), next }, options, context);
}

/** @throws UsageError unknown version */
function subjectOf(
  project: Project,
  { group, version, kind }: CreateWebhookOptions,
): WebhookSubject {
  const versions = project.resources.filter((one) => isSameKind(one, { group, kind }));
  const [first, ...others] = versions;
  const resource = versions.find((one) => one.version === version);
  if (first !== undefined && resource !== undefined) return { project, resource, first, others };
  const builtIn = builtInType({ group, version, kind });
  if (builtIn !== undefined) {
    const scope = builtIn.namespaced ? 'Namespaced' : 'Cluster';
    const own = { group, version, kind, plural: builtIn.plural, scope, external: true } as const;
    return { project, resource: own, first: own, others: [] };
  }
  const command = `operator-builder create api --group ${group} --version ${version} --kind ${kind}`;
  throw new UsageError(
    `the project has no ${kind} ${version} of ${group}; make it first: ${command}`,
  );
}

/** @throws UsageError no webhook is requested, or it exists or is impossible */
function askedOf(
  { resource, first, others }: WebhookSubject,
  options: CreateWebhookOptions,
): ProjectWebhooks {
  const asked = webhookWords.filter((word) => options[word]);
  if (asked.length === 0) {
    const flags = webhookWords.map((word) => `--${word}`).join(', ');
    throw new UsageError(`nothing is asked for: give at least one of ${flags}`);
  }
  const { kind, version, webhooks } = resource;
  // All versions of a kind share one conversion.
  const conversion = [first, ...others].some((one) => one.webhooks?.conversion === true);
  const had: ProjectWebhooks = { ...webhooks, conversion };
  const twice = asked.filter((word) => had[word] === true);
  if (twice.length > 0 && !options.force) {
    const remedy = 'its code is yours by now; --force overwrites it';
    throw new UsageError(`${kind} ${version} has ${twice.join(' and ')} already: ${remedy}`);
  }
  if (options.conversion && resource.external === true) {
    throw new UsageError(`--conversion: others define ${kind}, and convert it`);
  }
  if (options.conversion && others.length === 0) {
    const remedy = 'add another by operator-builder create api, before';
    throw new UsageError(`--conversion: ${kind} has one version only, ${version}: ${remedy}`);
  }
  return Object.fromEntries(asked.map((word) => [word, true]));
}
