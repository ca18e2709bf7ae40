import picocolors from 'picocolors';
import type { UnstructuredObject } from '../../object/index.js';
import type { PlannedManifest, ResourcePlan } from '../../plan/index.js';
import { objectsText, textDiff } from '../object-texts.js';

/** Options of {@link renderYaml} and {@link renderDiff}. */
export interface ManifestOptions {
  readonly color: boolean;
  /** Print unchanged objects, too. */
  readonly unchanged: boolean;
}

/** Returns the whole objects of plans as YAML documents, each below a comment with its action. */
export function renderYaml(plans: readonly ResourcePlan[], { unchanged }: ManifestOptions): string {
  const documents = manifestsIn(plans, unchanged).map(({ action, before, after }) => {
    return `# ${action}\n${yamlOf(after ?? before) ?? ''}`;
  });
  return documents.map((text) => `---\n${text}`).join('');
}

/** Returns the changes of plans as unified diffs of YAML, one for each object, as `kubectl diff` does. */
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

/** Returns the name that `kubectl diff` gives the file: `apps.v1.Deployment.default.web`. */
function fileOf(object: UnstructuredObject | undefined): string {
  const { apiVersion = '', kind = '', metadata = {} } = object ?? {};
  const { namespace = '', name = '' } = metadata;
  return [apiVersion.replace('/', '.'), kind, namespace, name].join('.');
}

function yamlOf(object: UnstructuredObject | undefined): string | undefined {
  return object && objectsText([object]);
}
