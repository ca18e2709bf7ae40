import { parseDuration } from '../../crd/internal.js';
import {
  isJsonObject,
  memberOf,
  labelRequirementsOf,
  dns1035LabelProblem,
} from '../../object/index.js';
import type { LabelSelector, LabelSelectorExpression } from '../../object/index.js';
import { nearestName, isOperatorError } from '../../system/index.js';
import type { CompileContext } from '../spec-problem.js';
import { basicPredicates, sourceTypes, targetTypes } from './operator-spec.js';
import type {
  BasicPredicate,
  ControllerSpec,
  OperatorSpec,
  PredicateSpec,
  ResourceSpec,
  SourceSpec,
  SourceType,
  TargetSpec,
} from './operator-spec.js';

/** API group of virtual sources, whose kind names the type. */
const virtualGroup = 'source.dcontroller.io';
/** API groups of virtual sources whose group names the type. Their kind may be any name. */
const virtualGroups: ReadonlyMap<string | undefined, SourceType> = new Map([
  ['oneshot.virtual-source.dcontroller.io', 'OneShot'],
  ['periodic.virtual-source.dcontroller.io', 'Periodic'],
]);
const defaultPeriodMs = 300_000;
const mostControllers = 255;

/**
 * Reads an operator's specification. Reports problems to `context`, each with its path; the result must
 * not be used if there are any.
 * @param value - JSON: `{ controllers: […] }`
 */
export function readOperatorSpec(value: unknown, context: CompileContext): OperatorSpec {
  const members = Members.of(value, ['controllers'], context);
  const list = members?.list('controllers') ?? [];
  const at = context.at('controllers');
  if (list.length > mostControllers) {
    at.report({ message: `${list.length} controllers: want ${mostControllers} at most` });
  }
  const controllers = list.map((one, place) => readController(one, at.at(place)));
  reportTwins(controllers, at);
  return { controllers };
}

function reportTwins(controllers: readonly ControllerSpec[], context: CompileContext): void {
  const seen = new Set<string>();
  for (const [place, { name }] of controllers.entries()) {
    if (name !== '' && seen.has(name)) {
      context.report({ message: `two controllers are called ${name}` }, place, 'name');
    }
    seen.add(name);
  }
}

function readController(value: unknown, context: CompileContext): ControllerSpec {
  const members = Members.of(value, ['name', 'sources', 'pipeline', 'target'], context);
  if (members === undefined) return { name: '', sources: [], target: noTarget };
  const at = context.at('sources');
  const sources = members.list('sources').map((one, place) => readSource(one, at.at(place)));
  return {
    name: members.need('name'),
    sources,
    pipeline: members.get('pipeline'),
    target: readTarget(members.get('target'), context.at('target')),
  };
}

const noTarget: TargetSpec = { kind: '', type: 'Updater' };

function readTarget(value: unknown, context: CompileContext): TargetSpec {
  const members = Members.of(value, ['apiGroup', 'version', 'kind', 'type'], context);
  if (members === undefined) return noTarget;
  return { ...readResource(members), type: members.oneOf('type', targetTypes) };
}

const sourceFields = [
  ...['apiGroup', 'version', 'kind', 'type', 'as', 'namespace', 'labelSelector', 'predicate'],
  'parameters',
];
const noSource: SourceSpec = { kind: '', type: 'Watcher', periodMs: 0 };

function readSource(value: unknown, context: CompileContext): SourceSpec {
  const members = Members.of(value, sourceFields, context);
  if (members === undefined) return noSource;
  const resource = readResource(members);
  const type = readType(members, resource);
  const [selector, predicate] = [members.get('labelSelector'), members.get('predicate')];
  return {
    ...resource,
    type,
    as: readAlias(members),
    namespace: members.filled('namespace'),
    labelSelector:
      selector === undefined ? undefined : readSelector(selector, context.at('labelSelector')),
    predicate:
      predicate === undefined ? undefined : readPredicate(predicate, context.at('predicate')),
    periodMs: type === 'Periodic' ? readPeriod(members) : 0,
  };
}

function readResource(members: Members): ResourceSpec {
  const kind = members.need('kind');
  return { apiGroup: members.text('apiGroup'), version: members.filled('version'), kind };
}

/** Returns the type of a source. The group or the kind of a virtual source determines it. */
function readType(members: Members, { apiGroup, kind }: ResourceSpec): SourceType {
  const virtual = virtualGroups.get(apiGroup);
  if (virtual !== undefined) return virtual;
  if (apiGroup !== virtualGroup) return members.oneOf('type', sourceTypes);
  const type = sourceTypes.find((each) => each === kind);
  if (type !== undefined && type !== 'Watcher') return type;
  members.context.report(
    { message: `unknown kind ${kind} in the group ${virtualGroup}; want OneShot, Periodic` },
    'kind',
  );
  return 'OneShot';
}

function readAlias(members: Members): string | undefined {
  const alias = members.text('as');
  const problem = alias === undefined ? undefined : dns1035LabelProblem(alias.toLowerCase());
  if (problem !== undefined) members.context.report({ message: `as ${alias}: ${problem}` }, 'as');
  return alias;
}

/** Each period reads the whole target: a shorter period would leave time for nothing else. */
const shortestPeriodMs = 10;

function readPeriod(members: Members): number {
  const parameters = members.get('parameters');
  if (parameters === undefined) return defaultPeriodMs;
  const context = members.context.at('parameters');
  const period = Members.of(parameters, ['period'], context)?.get('period');
  if (period === undefined) return defaultPeriodMs;
  const duration = typeof period === 'string' ? parseDuration(period) : undefined;
  const periodMs = Number(duration?.nanos ?? 0n) / 1e6;
  if (periodMs >= shortestPeriodMs) return periodMs;
  const want = `want a duration of ${shortestPeriodMs}ms at least, for example 30s or 5m`;
  const message = `period ${JSON.stringify(period)}: ${want}`;
  members.context.report({ message }, 'parameters', 'period');
  return defaultPeriodMs;
}

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
function readPredicate(value: unknown, context: CompileContext): PredicateSpec | undefined {
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
  const message = `unknown combination of predicates ${name}; want and, or, not`;
  context.report({ message, suggestion: nearestName(name, ['and', 'or', 'not']) }, name);
  return undefined;
}

function readName(name: string, context: CompileContext): PredicateSpec | undefined {
  const written = name.toLowerCase();
  const found =
    aliases.get(written) ??
    basicPredicates.find((predicate) => predicate.toLowerCase() === written);
  if (found !== undefined) return { type: 'basic', name: found };
  const message = `unknown predicate ${name}; want ${basicPredicates.join(', ')}`;
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
    context.report({ message: `want one predicate, got ${value.length}` });
    return undefined;
  }
  const predicate = Array.isArray(value)
    ? readPredicate(value[0], context.at(0))
    : readPredicate(value, context);
  return predicate && { type: 'not', predicate };
}

/** Reads a label selector; undefined: invalid, which is reported. */
function readSelector(value: unknown, context: CompileContext): LabelSelector | undefined {
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
    // This call only validates; its result is not used.
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
    context.report({ message: 'want a map of strings' });
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
    at.report({ message: 'want a list of strings' });
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
  context.report({ message: `${JSON.stringify(value)}: labels are strings`, suggestion });
  return false;
}

/** Reads the members of a map of a specification and reports their problems. */
class Members {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly context: CompileContext;

  private constructor(object: Readonly<Record<string, unknown>>, context: CompileContext) {
    this.#object = object;
    this.context = context;
  }

  /**
   * Returns the members of `value`; reports each member that is not in `known`.
   * @returns undefined if `value` is not a map, which is reported
   */
  static of(
    value: unknown,
    known: readonly string[],
    context: CompileContext,
  ): Members | undefined {
    if (!isJsonObject(value)) {
      context.report({ message: `want a map with ${known.join(', ')}` });
      return undefined;
    }
    for (const name of Object.keys(value)) {
      if (known.includes(name)) continue;
      const message = `unknown field ${name}; want ${known.join(', ')}`;
      context.report({ message, suggestion: nearestName(name, known) }, name);
    }
    return new Members(value, context);
  }

  /** Returns the value of a member; undefined: absent or null. */
  get(name: string): unknown {
    return memberOf(this.#object, name) ?? undefined;
  }

  /** Returns a string; undefined: absent, or not a string, which is reported. */
  text(name: string): string | undefined {
    const value = this.get(name);
    if (value === undefined || typeof value === 'string') return value;
    this.context.report({ message: `${name}: want a string` }, name);
    return undefined;
  }

  /** Like `text`; also reports an empty string, which would select nothing. */
  filled(name: string): string | undefined {
    const value = this.text(name);
    if (value !== '') return value;
    this.context.report({ message: `${name} is empty: leave it out, or give a string` }, name);
    return undefined;
  }

  /** Returns a required string; reports one that is missing or empty, and returns `''`. */
  need(name: string): string {
    const value = this.get(name);
    if (typeof value === 'string' && value !== '') return value;
    this.context.report({ message: `${name} is missing: want a string` }, name);
    return '';
  }

  /** Returns one of `choices`; the first one if absent or invalid, which is reported. */
  oneOf<T extends string>(name: string, choices: readonly [T, ...T[]]): T {
    const value = this.text(name);
    const [first] = choices;
    if (value === undefined) return first;
    const found = choices.find((choice) => choice === value);
    if (found !== undefined) return found;
    const message = `${name} ${value}: want ${choices.join(', ')}`;
    this.context.report({ message, suggestion: nearestName(value, choices) }, name);
    return first;
  }

  /** Returns a list with at least one item; reports anything else, and returns an empty list. */
  list(name: string): readonly unknown[] {
    const value = this.get(name);
    if (Array.isArray(value) && value.length > 0) return value;
    this.context.report({ message: `${name}: want a list with at least one entry` }, name);
    return [];
  }
}
