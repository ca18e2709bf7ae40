import { matchesLabels, parseLabelSelector } from '../../object/label-selector.js';
import type { Json } from './json-values.js';
import { textAt, textsAt } from './json-values.js';
import type { Resource } from './resource.js';
import { effectiveNamespace } from './resource-id.js';
import type { ResourceId } from './resource-id.js';

/** Selects the objects of a patch or replacement. */
export interface ResourceSelector {
  /** Whether a current or previous name, and the labels and annotations, match. */
  matches(resource: Resource): boolean;
}

/** The fields of a selector in a kustomization. */
const fields: readonly string[] = [
  'group',
  'version',
  'kind',
  'name',
  'namespace',
  'labelSelector',
  'annotationSelector',
];

/**
 * Compiles a selector, whose texts are anchored regular expressions.
 * @throws RangeError an unknown field
 * @throws SyntaxError an invalid expression
 * @throws OperatorError `InvalidSelector`: an invalid label or annotation selector
 */
export function compileSelector(selector: Json): ResourceSelector {
  const unknown = Object.keys(selector).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw new RangeError(`${unknown} is none of ${fields.join(', ')}`);
  const pattern = (name: string) => {
    const text = textAt(selector, name);
    const expression = text === '' ? undefined : new RegExp(`^(?:${text})$`);
    return (value: string): boolean => expression?.test(value) ?? true;
  };
  const [group, version, kind] = [pattern('group'), pattern('version'), pattern('kind')];
  const [name, namespace] = [pattern('name'), pattern('namespace')];
  const labels = parseLabelSelector(textAt(selector, 'labelSelector'));
  const annotations = parseLabelSelector(textAt(selector, 'annotationSelector'));
  return {
    matches: (resource) => {
      const { id, originalId, metadata } = resource;
      const either = (fits: (one: ResourceId) => boolean) => fits(originalId) || fits(id);
      return (
        either((one) => namespace(effectiveNamespace(one))) &&
        either((one) => name(one.name)) &&
        group(id.group) &&
        version(id.version) &&
        kind(id.kind) &&
        matchesLabels(labels, textsAt(metadata, 'labels')) &&
        matchesLabels(annotations, textsAt(metadata, 'annotations'))
      );
    },
  };
}
