import picocolors from 'picocolors';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { objectsText } from '../kustomize/objects-text.js';
import { textDiff } from '../manifests/text-diff.js';
import type { PlannedManifest } from './plan-of.js';
import type { ResourcePlan } from './plan-resource.js';

/** Options of {@link renderYaml} and {@link renderDiff}. */
export interface ManifestOptions {
  readonly color: boolean;
  /** Print objects that stay as they are, too. */
  readonly unchanged: boolean;
}

/** The whole objects of plans as YAML documents, each under a comment with what is done to it. */
export function renderYaml(plans: readonly ResourcePlan[], { unchanged }: ManifestOptions): string {
  const documents = manifestsIn(plans, unchanged).map(({ action, before, after }) => {
    return `# ${action}\n${yamlOf(after ?? before) ?? ''}`;
  });
  return documents.map((text) => `---\n${text}`).join('');
}

/** The changes of plans as unified diffs of YAML, an object each, as `kubectl diff` prints them. */
export function renderDiff(plans: readonly ResourcePlan[], { color }: ManifestOptions): string {
  const colors = picocolors.createColors(color);
  const texts = manifestsIn(plans, false).map(({ before, after }) => {
    const diff = textDiff(fileOf(after ?? before), yamlOf(before), yamlOf(after));
    return diff.split('\n').map((line, index) => {
      if (index < 2) return colors.bold(line);
      if (line.startsWith('+')) return colors.green(line);
      return line.startsWith('-') ? colors.red(line) : line;
    });
  });
  return texts.map((lines) => lines.join('\n')).join('');
}

function manifestsIn(
  plans: readonly ResourcePlan[],
  unchanged: boolean,
): readonly PlannedManifest[] {
  const all = plans.flatMap(({ manifests }) => manifests);
  return unchanged ? all : all.filter(({ action }) => action !== 'unchanged');
}

/** As kubectl calls the files that it compares: `apps.v1.Deployment.default.web`. */
function fileOf(object: UnstructuredObject | undefined): string {
  const { apiVersion = '', kind = '', metadata = {} } = object ?? {};
  const { namespace = '', name = '' } = metadata;
  return [apiVersion.replace('/', '.'), kind, namespace, name].join('.');
}

function yamlOf(object: UnstructuredObject | undefined): string | undefined {
  return object && objectsText([object]);
}
