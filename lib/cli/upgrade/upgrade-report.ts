import pc from 'picocolors';
import { describeObject } from '../../object/index.js';
import type { FieldChange, ObjectReference } from '../../object/index.js';
import { shortened } from '../../system/index.js';

/** Types of problems and notices of an upgrade. */
export type FindingType =
  /** The pods of a workload are replaced. */
  | 'restart'
  /** The server refuses a write of the new version, because it changes an immutable field. */
  | 'refused'
  /** An object is deleted and created again. */
  | 'recreated'
  /** An object has another name: the old one is pruned. */
  | 'renamed'
  /** An object is deleted without a replacement. */
  | 'pruned'
  /** A PersistentVolumeClaim is deleted with its data. */
  | 'claim'
  /** A Service selects only some of the running pods, or none. */
  | 'traffic'
  /** A stored resource is invalid in the new schema. */
  | 'schema'
  /** A stored resource loses fields in the new schema. */
  | 'dropped'
  /** A version or a kind of stored resources is gone. */
  | 'version'
  /** A definition changes so that other objects or clients break. */
  | 'breaking'
  /** The new version fails on a resource that the old one handles. */
  | 'failed'
  /** The new version does not settle. */
  | 'restless';

/** An effect of an upgrade that the user should know in advance. */
export interface Finding {
  readonly type: FindingType;
  readonly ref: ObjectReference;
  /** Description of the effect. */
  readonly message: string;
  /** Fields that cause the effect. */
  readonly changes: readonly FieldChange[];
  /** Objects behind these fields, such as the ConfigMap whose hash a pod template has. */
  readonly causes: readonly ObjectReference[];
  /** Objects that refer to the object. */
  readonly users: readonly ObjectReference[];
  readonly remedy?: string | undefined;
}

export interface HarmlessChange {
  readonly action: 'create' | 'configure';
  readonly ref: ObjectReference;
  readonly changes: readonly FieldChange[];
  readonly note?: string | undefined;
}

export interface UpgradeReport {
  readonly operator: string;
  /** The stored resources that were replayed. */
  readonly resources: readonly ObjectReference[];
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/** The effects of one part of an upgrade. */
export type Effects = Pick<UpgradeReport, 'findings' | 'changes'>;

/** Returns a finding with defaults for the optional parts. */
export function finding(
  type: FindingType,
  ref: ObjectReference,
  rest: Omit<Partial<Finding>, 'type' | 'ref'> & { readonly message: string },
): Finding {
  const { changes = [], causes = [], users = [], message, remedy } = rest;
  const base = { type, ref: withoutUid(ref), message, changes, causes, users };
  return remedy === undefined ? base : { ...base, remedy };
}

/** Removes the uid, which belongs to the cluster of the check. */
export function withoutUid({
  apiVersion,
  kind,
  namespace,
  name,
}: ObjectReference): ObjectReference {
  return { apiVersion, kind, ...(namespace !== undefined && { namespace }), name };
}

/** Returns a report for people, with a final line break. */
export function renderUpgrade(report: UpgradeReport, { color }: { color: boolean }): string {
  const colors = pc.createColors(color);
  const { operator, resources, findings, changes } = report;
  const of = resources.length === 1 ? '1 object' : `${resources.length} objects`;
  const lines = [
    colors.bold(`Upgrade of ${operator}, with ${of} stored`),
    ...findings.flatMap((finding) => findingLines(finding, colors)),
    ...changes.flatMap((change) => changeLines(change, colors)),
    summary(report),
  ];
  return `${lines.join('\n')}\n`;
}

type Colors = ReturnType<typeof pc.createColors>;

function findingLines(finding: Finding, colors: Colors): readonly string[] {
  const { type, ref, message, changes, causes, remedy } = finding;
  const names = causes.map((cause) => describeObject(cause)).join(', ');
  const because = names === '' ? '' : `, because of changes in ${names}`;
  return [
    `${colors.red(`! ${type} ${describeObject(ref)}`)}: ${message}${because}`,
    ...changes.map((change) => `    ${fieldLine(change, colors)}`),
    ...(remedy === undefined ? [] : [`    ${colors.dim(`remedy: ${remedy}`)}`]),
  ];
}

function changeLines(change: HarmlessChange, colors: Colors): readonly string[] {
  const { action, ref, changes, note } = change;
  const name = describeObject(ref);
  const head = action === 'create' ? colors.green(`+ ${name}`) : colors.yellow(`~ ${name}`);
  return [
    `${head} ${action}${note === undefined ? '' : colors.dim(` (${note})`)}`,
    ...changes.map((each) => `    ${fieldLine(each, colors)}`),
  ];
}

function fieldLine({ path, from, to }: FieldChange, colors: Colors): string {
  if (from === undefined && to === undefined) return colors.red(`! ${path}`);
  if (from === undefined) return colors.green(`+ ${path}: ${show(to)}`);
  if (to === undefined) return colors.red(`- ${path}: ${show(from)}`);
  return `~ ${path}: ${colors.red(show(from))} → ${colors.green(show(to))}`;
}

const longestValue = 200;

function show(value: unknown): string {
  return shortened(JSON.stringify(value), longestValue);
}

function summary({ findings, changes }: UpgradeReport): string {
  const harmless = `${changes.length} harmless change${changes.length === 1 ? '' : 's'}`;
  if (findings.length === 0) return `no findings, ${harmless}`;
  const counts = new Map<string, number>();
  for (const { type } of findings) counts.set(type, (counts.get(type) ?? 0) + 1);
  const parts = [...counts].map(([type, count]) => `${count} ${type}`);
  return `${parts.join(', ')}, ${harmless}`;
}
