import { InvalidSpecError } from '../spec/invalid-spec-error.js';
import { loadOperators } from '../spec/load-operator.js';
import type { LoadedOperator } from '../spec/load-operator.js';
import { nearestName } from '../../system/known-options.js';

/**
 * Returns the operator with this name in a YAML text, or the only operator of the text.
 * @param source - the file name, for problems
 * @throws InvalidSpecError an operator of the text is invalid, pipelines included, or the text has several
 * operators and none has this name.
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
