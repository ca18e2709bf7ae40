import { isJsonObject } from '../../object/json.js';
import { trimMiddle } from '../trim-middle.js';
import type { GraphStage } from './operator-graph.js';

const longestLine = 72;
const mostLines = 4;

/** Returns the lines that describe a stage in a drawing: its name and a summary, at most five lines. */
export function stageLines({ name, argument }: GraphStage): readonly string[] {
  const details = detailsOf(name, argument);
  const shown = details.length > mostLines ? [...details.slice(0, mostLines - 1), '…'] : details;
  return [name, ...shown.map((line) => trimMiddle(line, longestLine))];
}

function detailsOf(name: string, argument: unknown): readonly string[] {
  switch (name) {
    case '@join':
    case '@select':
      return conditions(argument);
    case '@project':
      return [...new Set(projected(argument))];
    case '@gather':
    case '@mux':
      return Array.isArray(argument) ? [`by ${brief(argument[0])}`, brief(argument[1])] : [];
    default:
      return [brief(argument)];
  }
}

/** Returns one line per condition of an `@and`, and none for the condition `true`. */
function conditions(condition: unknown): readonly string[] {
  const [operator, operands] = operationOf(condition) ?? [];
  if (operator === '@and' && Array.isArray(operands)) return operands.flatMap(conditions);
  return condition === true ? [] : [brief(condition)];
}

/** Returns the members that a projection writes; `$.a.b` for a path. */
function projected(argument: unknown): readonly string[] {
  if (Array.isArray(argument)) return argument.flatMap(projected);
  if (operationOf(argument) !== undefined || !isJsonObject(argument)) return [brief(argument)];
  return [Object.keys(argument).join(', ')];
}

/** Returns a readable form of an expression: `a = b` for `@eq`, `@len($.pods)` for an operator. */
function brief(expression: unknown): string {
  if (typeof expression === 'string') return expression;
  if (Array.isArray(expression)) return `[${expression.map(brief).join(', ')}]`;
  const operation = operationOf(expression);
  if (operation !== undefined) return briefOperation(operation);
  if (!isJsonObject(expression)) return JSON.stringify(expression);
  const members = Object.entries(expression).map(([name, value]) => `${name}: ${brief(value)}`);
  return `{${members.join(', ')}}`;
}

function briefOperation([operator, operand]: readonly [string, unknown]): string {
  const operands = Array.isArray(operand) ? (operand as readonly unknown[]) : [operand];
  const [left, right, ...others] = operands;
  if (operator === '@eq' && right !== undefined && others.length === 0) {
    return `${brief(left)} = ${brief(right)}`;
  }
  return `${operator}(${operands.map(brief).join(', ')})`;
}

function operationOf(expression: unknown): readonly [string, unknown] | undefined {
  if (!isJsonObject(expression)) return undefined;
  const [entry, ...others] = Object.entries(expression);
  return entry !== undefined && others.length === 0 && entry[0].startsWith('@') ? entry : undefined;
}
