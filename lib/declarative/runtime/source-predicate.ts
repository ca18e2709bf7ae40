import {
  and,
  annotationChanged,
  generationChanged,
  labelChanged,
  not,
  or,
  resourceVersionChanged,
} from '../../controller/predicates.js';
import type { Predicate } from '../../controller/predicates.js';
import type { BasicPredicate, PredicateSpec } from '../spec/operator-spec.js';

const basic: Readonly<Record<BasicPredicate, () => Predicate>> = {
  GenerationChanged: generationChanged,
  ResourceVersionChanged: resourceVersionChanged,
  LabelChanged: labelChanged,
  AnnotationChanged: annotationChanged,
};

/**
 * Whether an update of an object matters. Of additions and deletions it is not asked: they always do.
 * (By controller-runtime's rules a `not` would keep out every object that is added.)
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
