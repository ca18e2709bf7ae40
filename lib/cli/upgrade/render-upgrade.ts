import pc from 'picocolors';
import { describeObject } from '../../object/describe-object.js';
import type { FieldChange } from '../../object/diff-by-path.js';
import type { Finding, HarmlessChange, UpgradeReport } from './upgrade-report.js';

/** Returns a report for people with a final line end. */
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
  const because = names === '' ? '' : `, for ${names} changed`;
  return [
    `${colors.red(`! ${type} ${describeObject(ref)}`)}: ${message}${because}`,
    ...changes.map((change) => `    ${fieldLine(change, colors)}`),
    ...(remedy === undefined ? [] : [`    ${colors.dim(`what helps: ${remedy}`)}`]),
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
  const text = JSON.stringify(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`;
}

function summary({ findings, changes }: UpgradeReport): string {
  const harmless = `${changes.length} harmless change${changes.length === 1 ? '' : 's'}`;
  if (findings.length === 0) return `nothing to worry about, ${harmless}`;
  const counts = new Map<string, number>();
  for (const { type } of findings) counts.set(type, (counts.get(type) ?? 0) + 1);
  const parts = [...counts].map(([type, count]) => `${count} ${type}`);
  return `${parts.join(', ')}, ${harmless}`;
}
