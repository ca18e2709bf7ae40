import type { V1PodSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import { dropDisabledPodFields } from './pod.js';
import { podWarnings } from './pod-warnings.js';

type PodSpec = Wire<V1PodSpec>;

interface WithGeneration {
  readonly metadata?: { readonly generation?: number };
}

interface TemplateRules<T> {
  readonly prepareForCreate: (object: T) => void;
  readonly prepareForUpdate: (object: T) => void;
  readonly warnings: (object: T, old?: T) => readonly string[];
}

/**
 * Returns the rules of a kind for the template of its pods.
 * @param field - path of the spec of the template
 */
export function templateRules<T extends WithGeneration>(
  field: string,
  specOf: (object: T) => PodSpec | undefined,
): TemplateRules<T> {
  const dropDisabled = (object: T): void => dropDisabledPodFields(specOf(object));
  return {
    prepareForCreate: dropDisabled,
    prepareForUpdate: dropDisabled,
    warnings: (object, old) => {
      const spec = specOf(object);
      const isKnown = old !== undefined && object.metadata?.generation === old.metadata?.generation;
      return spec === undefined || isKnown ? [] : podWarnings(spec, field);
    },
  };
}
