import type { OperatorDefinition } from '../../manager/index.js';
import { isJsonObject } from '../../object/json.js';
import { dns1123LabelProblem } from '../../object/names.js';
import { OperatorError } from '../../system/operator-error.js';

/**
 * Returns the operator that a module exports.
 * @param file - the module, for messages
 * @throws OperatorError `InvalidConfig`: it exports no operator, or another value
 */
export function checkedDefinition(module: object, file: string): OperatorDefinition {
  const { operator } = module as { readonly operator?: unknown };
  if (operator === undefined) {
    const others = Object.keys(module).join(', ');
    const found = others === '' ? 'nothing' : others;
    const remedy = 'add: export const operator: OperatorDefinition = { name, resources, setup }';
    throw new OperatorError('InvalidConfig', `${file} exports ${found}, no operator; ${remedy}`);
  }
  const problems = problemsOf(operator);
  if (problems.length > 0) {
    const list = problems.map((problem) => `  ${problem}`).join('\n');
    const message = `${file} exports an operator that is no OperatorDefinition:\n${list}`;
    throw new OperatorError('InvalidConfig', message);
  }
  return operator as OperatorDefinition;
}

function problemsOf(operator: unknown): readonly string[] {
  if (!isJsonObject(operator)) return [`want an object, got ${typeof operator}`];
  const { name, resources = [], webhooks = [], setup } = operator;
  return [
    ...nameProblems(name),
    ...(typeof setup === 'function' ? [] : [`setup: want a function, got ${typeof setup}`]),
    ...listProblems('resources', resources, {
      isOne: (one) => isObject(one) && 'crd' in one && 'plural' in one,
      wanted: 'what defineResource made',
    }),
    ...listProblems('webhooks', webhooks, {
      isOne: (one) => isObject(one) && 'path' in one && 'type' in one,
      wanted: 'what validatingWebhook, mutatingWebhook or conversionWebhook made',
    }),
  ];
}

function nameProblems(name: unknown): readonly string[] {
  if (typeof name !== 'string') return [`name: want a text, got ${typeof name}`];
  const problem = dns1123LabelProblem(name);
  return problem === undefined ? [] : [`name ${JSON.stringify(name)}: ${problem}`];
}

interface Form {
  readonly isOne: (one: unknown) => boolean;
  readonly wanted: string;
}

function listProblems(name: string, list: unknown, { isOne, wanted }: Form): readonly string[] {
  if (!Array.isArray(list)) return [`${name}: want a list, got ${typeof list}`];
  return list.flatMap((one: unknown, index) =>
    isOne(one) ? [] : [`${name}[${index}]: want ${wanted}`],
  );
}

/** Unlike a JSON object, the value may be a class instance. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
