import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  not,
  or,
  resourceVersionChanged,
} from '../../controller/index.js';
import type { Predicate } from '../../controller/index.js';
import type { BasicPredicate, PredicateSpec } from '../spec/operator-spec.js';

const basic: Readonly<Record<BasicPredicate, () => Predicate>> = {
  GenerationChanged: generationChanged,
  ResourceVersionChanged: resourceVersionChanged,
  LabelChanged: labelChanged,
  AnnotationChanged: annotationChanged,
};

/**
 * Returns the predicate for updates of an object. Additions and deletions always pass. (Under
 * controller-runtime's rules, a `not` would filter out every added object.)
 */
export function sourcePredicate(spec: PredicateSpec): Predicate {
  switch (spec.type) {
    case 'basic':
      return basic[spec.name]();
    case 'and':
      return and(...spec.predicates.map(sourcePredicate));
    case 'or':
      return or(...spec.predicates.map(sourcePredicate));
    case 'not':
      return not(sourcePredicate(spec.predicate));
  }
}
