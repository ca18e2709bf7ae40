import { isJsonObject } from '../../object/json.js';
import { labelRequirementsOf } from '../../object/label-selector.js';
import type { LabelSelector, LabelSelectorExpression } from '../../object/label-selector.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { CompileContext } from '../spec-problem.js';
import { Members } from './members.js';

/** Reads a label selector; undefined: invalid, which is reported. */
export function readSelector(value: unknown, context: CompileContext): LabelSelector | undefined {
  const members = Members.of(value, ['matchLabels', 'matchExpressions'], context);
  if (members === undefined) return undefined;
  const matchLabels = readLabels(members.get('matchLabels'), context.at('matchLabels'));
  const at = context.at('matchExpressions');
  const matchExpressions = readExpressions(members.get('matchExpressions'), at);
  if (matchLabels === undefined || matchExpressions === undefined) return undefined;
  const selector = {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  try {
    // Called only to validate.
    labelRequirementsOf(selector);
    return selector;
  } catch (error) {
    if (!isOperatorError(error, 'InvalidSelector')) throw error;
    context.report({ message: error.message });
    return undefined;
  }
}

function readLabels(
  value: unknown,
  context: CompileContext,
): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    context.report({ message: 'want a map of texts' });
    return undefined;
  }
  const wrong = Object.keys(value).filter((name) => !isText(value[name], context.at(name)));
  return wrong.length === 0 ? (value as Record<string, string>) : undefined;
}

function readExpressions(
  value: unknown,
  context: CompileContext,
): readonly LabelSelectorExpression[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    context.report({ message: 'want a list of maps with key, operator, values' });
    return undefined;
  }
  const read = value.map((one, place) => readExpression(one, context.at(place)));
  return read.every((one) => one !== undefined) ? read : undefined;
}

function readExpression(
  value: unknown,
  context: CompileContext,
): LabelSelectorExpression | undefined {
  const members = Members.of(value, ['key', 'operator', 'values'], context);
  if (members === undefined) return undefined;
  const [key, operator] = [members.need('key'), members.need('operator')];
  const values: unknown = members.get('values') ?? [];
  const at = context.at('values');
  if (!Array.isArray(values)) {
    at.report({ message: 'want a list of texts' });
    return undefined;
  }
  const wrong = values.filter((one, place) => !isText(one, at.at(place)));
  const isWhole = key !== '' && operator !== '' && wrong.length === 0;
  return isWhole ? { key, operator, values: values as string[] } : undefined;
}

/** Whether `value` is a string; reports the unquoted `true` and `1` of YAML, which are not strings. */
function isText(value: unknown, context: CompileContext): boolean {
  if (typeof value === 'string') return true;
  const isQuotable = typeof value === 'boolean' || typeof value === 'number';
  const suggestion = isQuotable ? JSON.stringify(String(value)) : undefined;
  context.report({ message: `${JSON.stringify(value)}: labels are texts`, suggestion });
  return false;
}
