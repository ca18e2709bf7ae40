import { formatTime } from '../../../object/micro-time.js';
import {
  type LabelRequirement,
  type LabelSelector,
  labelRequirementsOf,
  matchesLabels,
} from '../../../object/label-selector.js';
import { isJsonObject } from '../../../object/json.js';
import { isOperatorError } from '../../../system/operator-error.js';
import { type Compiled, dynamic, failed, type OperatorDefinition, type Site } from '../compiled.js';
import { DataError } from '../data-error.js';
import type { Expression } from '../expression.js';
import { integer, mapOrNull } from '../operands.js';
import { shortHash } from '../short-hash.js';
import { compileLiteral } from '../compile-literal.js';
import { fold } from './arguments.js';
import { binary } from './define.js';

type Map = Readonly<Record<string, unknown>>;

/** `@hash`, `@selector`, `@rnd`, `@now` and `@literal`. */
export const otherOperators: readonly OperatorDefinition[] = [
  { name: '@hash', compile: compileHash },
  { name: '@selector', compile: compileSelector },
  { name: '@rnd', compile: compileRandom },
  { name: '@now', compile: compileNow },
  { name: '@literal', compile: (argument, { context }) => compileLiteral(argument, context) },
];

/** `"@now"`, or `{"@now": null}`: the time of the evaluation, whole seconds, in UTC. */
export function compileNow(argument: unknown, site: Site): Compiled {
  if (argument !== null && argument !== undefined) {
    site.context.report({ message: `${site.name} wants no operand` });
    return failed;
  }
  const { clock } = site.compiler;
  return dynamic(() => formatTime(clock.now()), 'string');
}

function compileHash(argument: unknown, site: Site): Compiled {
  const compiled = site.compiler.compile(argument, site.context);
  const { evaluate } = compiled;
  const alone = Array.isArray(argument) && argument.length === 1;
  const run: Expression = (document, element) => {
    const value = evaluate(document, element);
    // `["$.list"]` is that list, as everywhere.
    const [only] = alone && Array.isArray(value) ? (value as unknown[]) : [];
    return shortHash(Array.isArray(only) ? only : value);
  };
  return fold(run, [compiled], { site, type: 'string' });
}

function compileRandom(argument: unknown, site: Site): Compiled {
  const { random } = site.compiler;
  // The bounds may be constant; the random result is not.
  const bounds = binary(
    site.name,
    { operands: [integer, integer], type: 'list' },
    (least, beyond, operation) => {
      if (least < beyond) return [least, beyond];
      throw new DataError(operation, 'wants [least, more than that]', [least, beyond]);
    },
  ).compile(argument, site);
  if (bounds.failed) return failed;
  return dynamic((document, element) => {
    const [least, beyond] = bounds.evaluate(document, element) as [number, number];
    return least + Math.floor(random.next() * (beyond - least));
  }, 'number');
}

function compileSelector(argument: unknown, site: Site): Compiled {
  // Selectors come from documents, which are shared and never change: each is read once.
  const read = new WeakMap<Map, readonly LabelRequirement[]>();
  const requirementsOf = (selector: Map, operation: string): readonly LabelRequirement[] => {
    const known = read.get(selector);
    if (known !== undefined) return known;
    const requirements = readSelector(selector, operation);
    read.set(selector, requirements);
    return requirements;
  };
  const selectorOperand = {
    ...mapOrNull,
    read: (value: unknown, operation: string): Map | null => {
      const selector = mapOrNull.read(value, operation);
      if (selector !== null) requirementsOf(selector, operation);
      return selector;
    },
  };
  return binary(
    site.name,
    { operands: [selectorOperand, mapOrNull], type: 'boolean' },
    (selector, labels, operation) =>
      selector !== null &&
      labels !== null &&
      matchesLabels(requirementsOf(selector, operation), texts(labels)),
  ).compile(argument, site);
}

function readSelector(selector: Map, operation: string): readonly LabelRequirement[] {
  try {
    return labelRequirementsOf(selectorOf(selector));
  } catch (error) {
    if (!isOperatorError(error, 'InvalidSelector')) throw error;
    const refused = new DataError(operation, 'wants a label selector', selector);
    refused.cause = error;
    throw refused;
  }
}

/** The long form has `matchLabels` or `matchExpressions`; any other map is the labels themselves. */
function selectorOf(selector: Map): LabelSelector {
  const { matchLabels, matchExpressions } = selector;
  if (!isJsonObject(matchLabels) && !Array.isArray(matchExpressions)) {
    return { matchLabels: texts(selector) };
  }
  return {
    matchLabels: isJsonObject(matchLabels) ? texts(matchLabels) : {},
    matchExpressions: Array.isArray(matchExpressions) ? matchExpressions.map(expressionOf) : [],
  };
}

function expressionOf(expression: unknown): { key: string; operator: string; values: string[] } {
  const { key, operator, values } = isJsonObject(expression) ? expression : {};
  return {
    key: String(key),
    operator: String(operator),
    values: Array.isArray(values) ? values.map(String) : [],
  };
}

/** Labels are texts; a YAML file may have numbers or booleans for some. */
function texts(labels: Map): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]));
}
