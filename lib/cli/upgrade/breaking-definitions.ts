import { groupOf, isJsonObject, referenceTo, versionOf } from '../../object/index.js';
import type {
  CustomResourceDefinition,
  Schema,
  SchemaRule,
  StatusCause,
} from '../../object/index.js';
import { breakingChanges } from '../evolution/breaking-changes.js';
import { breakingRules } from '../evolution/breaking-rules.js';
import type { BreakingRule } from '../evolution/breaking-rules.js';
import { textOfRule } from '../evolution/compare-schemas.js';
import { chosen } from '../evolution/findings.js';
import type { DefinitionFinding } from '../evolution/findings.js';
import { schemaOf } from '../evolution/versions.js';
import type { InvalidObject } from './upgrade-definitions.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Finding, HarmlessChange } from './upgrade-report.js';

/** Definitions before and after an upgrade, and what is reported already. */
interface DefinitionUpgrade {
  readonly before: readonly CustomResourceDefinition[];
  readonly after: readonly CustomResourceDefinition[];
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
  readonly invalid: readonly InvalidObject[];
}

/** The breaking changes of definitions: errors as findings, warnings as harmless changes. */
interface BreakingReport {
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/**
 * Returns the breaking changes of definitions: those that affect no stored object, but other objects, files or
 * clients. Leaves out the changes that a finding on a stored object reports.
 */
export function breakingDefinitions(upgrade: DefinitionUpgrade): BreakingReport {
  const { before, after } = upgrade;
  const unreported = breakingChanges(before, after).filter(
    (change) => !isReported(change, upgrade),
  );
  const changes = chosen(unreported, { disable: [], enable: [] }, breakingRules);
  const refOf = ({ definition }: DefinitionFinding) =>
    withoutUid(referenceTo(definitionNamed(before, definition)));
  return {
    findings: changes
      .filter(({ level }) => level === 'error')
      .map((change) => finding('breaking', refOf(change), { message: textOf(change) })),
    changes: changes
      .filter(({ level }) => level === 'warning')
      .map((change) => ({
        ...{ action: 'configure', ref: refOf(change), changes: [], note: textOf(change) },
      })),
  };
}

function definitionNamed(
  definitions: readonly CustomResourceDefinition[],
  name: string,
): CustomResourceDefinition {
  const found = definitions.find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`a change names the unknown definition ${name}`);
  return found;
}

function textOf({ rule, versions, path, message }: DefinitionFinding): string {
  const place = [rule, versions.join(', '), path].filter((part) => part !== '').join(' ');
  return `${place}: ${message}`;
}

/** Whether a finding or a harmless change already reports this change, of one version at most. */
function isReported(change: DefinitionFinding, upgrade: DefinitionUpgrade): boolean {
  const { definition, rule, path, versions } = change;
  const { spec } = definitionNamed(upgrade.before, definition);
  const isOwn = ({ ref }: Pick<Finding, 'ref'>): boolean =>
    ref.kind === spec.names.kind && groupOf(ref.apiVersion) === spec.group;
  const own = upgrade.findings.filter(isOwn);
  const ofDefinition = upgrade.findings.filter(
    ({ ref }) => ref.kind === 'CustomResourceDefinition' && ref.name === definition,
  );
  const isVersion = (version: unknown): boolean => versions.includes(String(version));
  const isOwnVersion = (found: Pick<Finding, 'ref'>): boolean =>
    isOwn(found) && isVersion(versionOf(found.ref.apiVersion));
  if (rule === 'definition-removed') return own.some(({ type }) => type === 'version');
  if (rule === 'scope-changed' || rule === 'names-changed') {
    return ofDefinition.some(({ type, message }) => type === 'refused' && message.includes(path));
  }
  if (rule === 'version-removed' || rule === 'version-unserved') {
    return (
      ofDefinition.some(({ changes }) => changes.some(({ from }) => isVersion(from))) ||
      own.some((found) => found.type === 'version' && isOwnVersion(found))
    );
  }
  const isHere = isAt(path);
  if (rule === 'default-added' || rule === 'field-removed') {
    const found =
      rule === 'default-added'
        ? upgrade.changes
        : upgrade.findings.filter(({ type }) => type === 'dropped');
    return found.filter(isOwnVersion).some((each) => each.changes.some((at) => isHere(at.path)));
  }
  const rules = upgrade.after
    .filter(({ metadata }) => metadata.name === definition)
    .flatMap((crd) => crd.spec.versions.filter(({ name }) => isVersion(name)))
    .flatMap((version) => rulesIn(schemaOf(version)));
  return upgrade.invalid
    .filter(isOwnVersion)
    .filter(({ causes }) => !causes.some(isOfAlternatives))
    .flatMap(({ causes }) => causes.filter(({ field = '' }) => isHere(field)))
    .flatMap((cause) => shownBy(cause, rules))
    .some((shown) => shown.rule === rule && change.message.startsWith(shown.start));
}

/** Tests whether a field is at a path of a schema, such as `spec.ports[*].name` or `spec.limits.*`. */
function isAt(path: string): (field: string) => boolean {
  const escaped = path.replaceAll(/[\\^$+?()|{}]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(/\[\*\]|\.\*|[.[\]*]/g, (part) => {
    if (part === '[*]') return String.raw`\[[^\]]*\]`;
    return part === '.*' ? String.raw`(?:\.[^.[]+|\["[^"]*"\])` : `\\${part}`;
  });
  const form = new RegExp(`^${pattern}$`);
  return (field) => form.test(field);
}

/** A change that the cause of a refusal shows. */
interface ShownChange {
  readonly rule: BreakingRule;
  /** The start of the message of the change, which tells changes of the same rule apart. */
  readonly start: string;
}

/** Messages of the server, with the changes that they show; `$1` is a part of the message. */
const shownByText: readonly (readonly [RegExp, BreakingRule, string])[] = [
  [/^Required value$/, 'required-added', ''],
  [/^Unsupported value: (?!null)/, 'enum-narrowed', ''],
  [/ in body must be of type [\w,-]+: "(?!null")/, 'type-changed', 'the type '],
  [
    / in body must be of type (?:object|array|string|integer|number|boolean|integer,string): "null"$/,
    'nullable-removed',
    '',
  ],
  [/ in body must be of type ([\w-]+): "/, 'format-changed', 'the format $1 '],
  [/ in body should match '([^]*)'$/, 'pattern-changed', 'the pattern $1 '],
  [/ in body should be greater than or equal to /, 'bounds-tightened', 'minimum '],
  [/ in body should be greater than \S+$/, 'bounds-tightened', 'minimum '],
  [/ in body should be greater than \S+$/, 'bounds-tightened', 'exclusiveMinimum '],
  [/ in body should be less than or equal to /, 'bounds-tightened', 'maximum '],
  [/ in body should be less than \S+$/, 'bounds-tightened', 'maximum '],
  [/ in body should be less than \S+$/, 'bounds-tightened', 'exclusiveMaximum '],
  [/ in body should be a multiple of /, 'bounds-tightened', 'multipleOf '],
  [/ in body should be at least \d+ chars long$/, 'bounds-tightened', 'minLength '],
  [/^Too long: /, 'bounds-tightened', 'maxLength '],
  [/^Too many: /, 'bounds-tightened', 'maxItems '],
  [/^Too many: /, 'bounds-tightened', 'maxProperties '],
  [/ in body should have at least \d+ items$/, 'bounds-tightened', 'minItems '],
  [/ in body should have at least \d+ properties$/, 'bounds-tightened', 'minProperties '],
];

/** Returns the changes that a cause shows at its field. @param rules - of the schema */
function shownBy(
  { message = '' }: StatusCause,
  rules: readonly SchemaRule[],
): readonly ShownChange[] {
  const texts = rules
    .filter((rule) => message.endsWith(`: ${violationOf(rule)}`))
    .map((rule) => JSON.stringify(textOfRule(rule)));
  const [text, ...others] = new Set(texts);
  // Several rules may have the same message: which of them is violated is unknown.
  const ofRule =
    text === undefined || others.length > 0
      ? []
      : [{ rule: 'rule-added', start: `the CEL rule ${text} ` } as const];
  return [
    ...ofRule,
    ...shownByText.flatMap(([form, rule, start]) => {
      const found = form.exec(message);
      return found === null ? [] : [{ rule, start: start.replace('$1', () => found[1] ?? '') }];
    }),
  ];
}

/** Whether a cause is that of `anyOf` and others: those at fields then belong to an alternative. */
function isOfAlternatives({ field, message = '' }: StatusCause): boolean {
  return field === '<nil>' && /\((?:allOf|anyOf|oneOf)\)|not validate the schema/.test(message);
}

/** Returns the CEL rules of a schema, with those of its fields. */
function rulesIn(part: unknown): readonly SchemaRule[] {
  if (Array.isArray(part)) return part.flatMap(rulesIn);
  if (!isJsonObject(part)) return [];
  const { 'x-kubernetes-validations': own } = part as Schema;
  return [...(own ?? []), ...Object.values(part).flatMap(rulesIn)];
}

/** Returns the message of a violation, for rules without `messageExpression`. */
function violationOf({ rule, message = '' }: SchemaRule): string {
  return message === '' ? `failed rule: ${rule.trim()}` : message.trim();
}
