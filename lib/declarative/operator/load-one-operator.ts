import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import { loadOperators } from '../spec/load-operator.js';
import type { LoadedOperator } from '../spec/load-operator.js';
import { nearestName } from '../../system/nearest-name.js';

/**
 * The operator of a name in a YAML text, or the only one in it.
 * @param source - the name of the file, for problems
 * @throws InvalidSpecError something is wrong with the operators of the text, pipelines included, or it
 * has several, and none is called so.
 */
export function loadOneOperator(name: string, text: string, source: string): LoadedOperator {
  const operators = loadOperators(text, source);
  const named = operators.find((operator) => operator.name === name);
  const [only, ...others] = operators;
  if (named !== undefined) return named;
  if (only !== undefined && others.length === 0) return only;
  const names = operators.map((operator) => operator.name ?? 'one without a name');
  const message = `there is no operator ${name} among ${names.join(', ')}`;
  throw new InvalidSpecError(source, [{ path: [], message, suggestion: nearestName(name, names) }]);
}
