import { isJsonObject } from '../../object/json.js';
import { nearestName } from '../../system/known-options.js';
import type { CompileContext } from '../spec-problem.js';
import { basicPredicates } from './operator-spec.js';
import type { BasicPredicate, PredicateSpec } from './operator-spec.js';

/** Accepted alternative names. */
const aliases: ReadonlyMap<string, BasicPredicate> = new Map([
  ['labelschanged', 'LabelChanged'],
  ['annotationschanged', 'AnnotationChanged'],
]);
const combinations: ReadonlyMap<string, 'and' | 'or' | 'not' | 'basic'> = new Map([
  ['and', 'and'],
  ['or', 'or'],
  ['not', 'not'],
  ['basicpredicate', 'basic'],
  ['boolpredicate', 'basic'],
]);

/** Reads a predicate: a name, `{ and: […] }`, `{ or: […] }` or `{ not: … }`, case-insensitive. */
export function readPredicate(value: unknown, context: CompileContext): PredicateSpec | undefined {
  if (typeof value === 'string') return readName(value, context);
  const [entry, ...others] = isJsonObject(value) ? Object.entries(value) : [];
  if (entry === undefined || others.length > 0) {
    context.report({ message: 'want a predicate, or one of and, or, not with predicates' });
    return undefined;
  }
  const [name, inner] = entry;
  const type = combinations.get(name.toLowerCase());
  if (type === 'and' || type === 'or') return readCombination(type, inner, context.at(name));
  if (type === 'not') return readNegation(inner, context.at(name));
  if (type === 'basic') return readPredicate(inner, context.at(name));
  const message = `${name} is no combination of predicates: want and, or, not`;
  context.report({ message, suggestion: nearestName(name, ['and', 'or', 'not']) }, name);
  return undefined;
}

function readName(name: string, context: CompileContext): PredicateSpec | undefined {
  const written = name.toLowerCase();
  const found =
    aliases.get(written) ??
    basicPredicates.find((predicate) => predicate.toLowerCase() === written);
  if (found !== undefined) return { type: 'basic', name: found };
  const message = `${name} is no predicate: want ${basicPredicates.join(', ')}`;
  context.report({ message, suggestion: nearestName(name, basicPredicates) });
  return undefined;
}

function readCombination(
  type: 'and' | 'or',
  value: unknown,
  context: CompileContext,
): PredicateSpec | undefined {
  if (!Array.isArray(value) || value.length === 0) {
    context.report({ message: 'want a list of predicates' });
    return undefined;
  }
  const read = value.map((one, place) => readPredicate(one, context.at(place)));
  const predicates = read.filter((one) => one !== undefined);
  return { type, predicates };
}

/** Reads one predicate, alone or in a list of one. */
function readNegation(value: unknown, context: CompileContext): PredicateSpec | undefined {
  if (Array.isArray(value) && value.length !== 1) {
    context.report({ message: `want one predicate, not ${value.length}` });
    return undefined;
  }
  const predicate = Array.isArray(value)
    ? readPredicate(value[0], context.at(0))
    : readPredicate(value, context);
  return predicate && { type: 'not', predicate };
}
