import pc from 'picocolors';
import { refId } from '../apply/index.js';
import type { PlannedObject } from '../apply/index.js';
import { describeObject, fieldsOf } from '../object/index.js';
import type { FieldChange, ObjectReference } from '../object/index.js';
import type { Plan, PlannedRollout } from './plan.js';
import { refuseUnknownOptions } from '../system/index.js';

/** Options of {@link renderPlan}. */
export interface RenderPlanOptions {
  /** Colours the output. @defaultValue true if standard output supports colours; `NO_COLOR` is respected */
  readonly color?: boolean | undefined;
  /** List unchanged objects too. @defaultValue false */
  readonly unchanged?: boolean | undefined;
}

/**
 * Renders a plan as text, one object per line, with `+` (created), `~` (changed), `-` (pruned), `±`
 * (recreated), `!` (refused or failing), `…` (waiting). Below each object are its changed fields with both
 * values, and the effect on pods. A plan never contains a Secret's values.
 */
export function renderPlan(plan: Plan, options: RenderPlanOptions = {}): string {
  const { color = pc.isColorSupported } = options;
  refuseUnknownOptions<RenderPlanOptions>('renderPlan', options, { color, unchanged: true });
  const title = pc.createColors(color).bold(`Plan for ${describeObject(plan.owner)}`);
  return [title, ...renderObjects(plan, options), planSummary(plan)].join('\n');
}

/** Returns the lines of {@link renderPlan} that describe objects. */
export function renderObjects(
  { objects, rollouts }: Pick<Plan, 'objects' | 'rollouts'>,
  { color = pc.isColorSupported, unchanged = false }: RenderPlanOptions = {},
): readonly string[] {
  const colors = pc.createColors(color);
  const shown = objects.filter(({ action }) => unchanged || action !== 'unchanged');
  return shown.flatMap((object) => {
    const id = refId(object.ref);
    const rollout = rollouts.find(({ ref }) => refId(ref) === id);
    return objectLines(object, rollout, colors);
  });
}

type Colors = ReturnType<typeof pc.createColors>;

interface Look {
  readonly sign: string;
  readonly color: 'green' | 'yellow' | 'magenta' | 'red' | 'cyan' | 'dim';
  readonly word: string;
}

const looks: Readonly<Record<PlannedObject['action'], Look>> = {
  create: { sign: '+', color: 'green', word: 'create' },
  configure: { sign: '~', color: 'yellow', word: 'configure' },
  recreate: { sign: '±', color: 'magenta', word: 'recreate' },
  prune: { sign: '-', color: 'red', word: 'prune' },
  violate: { sign: '!', color: 'red', word: 'refused' },
  fail: { sign: '!', color: 'red', word: 'fails' },
  wait: { sign: '…', color: 'cyan', word: 'waits' },
  unchanged: { sign: ' ', color: 'dim', word: 'unchanged' },
};

function objectLines(
  object: PlannedObject,
  rollout: PlannedRollout | undefined,
  colors: Colors,
): readonly string[] {
  const { sign, color, word } = looks[object.action];
  const notes = [
    ...(object.approximate ? ['approximate'] : []),
    ...(object.reason === undefined ? [] : [object.reason]),
  ];
  const note = notes.length === 0 ? '' : colors.dim(` (${notes.join('; ')})`);
  const head = `${colors[color](`${sign} ${describeObject(object.ref)}`)} ${word}${note}`;
  return [
    head,
    ...changeLines(object, colors).map((line) => `    ${line}`),
    ...(rollout === undefined ? [] : [`    ${colors.yellow(rolloutLine(rollout))}`]),
  ];
}

/** Shows every field of a created object in full, since it can't be looked up in the cluster. */
function changeLines({ action, changes }: PlannedObject, colors: Colors): readonly string[] {
  if (action !== 'create') return changes.map((change) => changeLine(change, colors));
  return changes.flatMap(fieldsOf).flatMap(({ path, to }) => {
    const [first = '', ...others] = wholeValue(to);
    return [`+ ${path}: ${first}`, ...others.map((line) => `    ${line}`)].map(colors.green);
  });
}

function changeLine(change: FieldChange, colors: Colors): string {
  const { path, from, to, manager } = change;
  const by = manager === undefined ? '' : colors.dim(` (taken by ${manager})`);
  // The server reported the field without its values.
  if (from === undefined && to === undefined) return colors.red(`! ${path}`);
  if (from === undefined) return colors.green(`+ ${path}: ${show(to)}`) + by;
  if (to === undefined) return colors.red(`- ${path}: ${show(from)}`) + by;
  return `~ ${path}: ${colors.red(show(from, to))} → ${colors.green(show(to, from))}${by}`;
}

function rolloutLine({ causes, changes, after }: PlannedRollout): string {
  const why = causes.length > 0 ? causes.map(nameOf).join(', ') : reasons(changes);
  const order = after === undefined ? '' : `, after ${nameOf(after)}`;
  return `its pods are replaced${why === '' ? '' : `, for ${why} changed`}${order}`;
}

function reasons(changes: readonly FieldChange[]): string {
  return changes.map(({ path }) => path).join(', ');
}

function nameOf(ref: ObjectReference): string {
  return describeObject(ref);
}

/** Returns the lines of a value; text with several lines becomes a block, as in YAML. */
function wholeValue(value: unknown): readonly string[] {
  if (typeof value !== 'string' || !value.trimEnd().includes('\n')) return [JSON.stringify(value)];
  return ['|', ...value.replace(/\n$/, '').split('\n')];
}

const longestValue = 200;
/** Characters of the common start that are shown before the first difference of two long values. */
const shownBefore = 40;

/**
 * Returns a value on one line.
 * @param other - the value to compare with: a long value is cut to where they differ
 */
function show(value: unknown, other?: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= longestValue) return text;
  const same = other === undefined ? 0 : commonStart(text, JSON.stringify(other));
  const from = same > longestValue / 2 ? same - shownBefore : 0;
  const end = text.length - from > longestValue ? '…' : '';
  return `${from > 0 ? '…' : ''}${text.slice(from, from + longestValue)}${end}`;
}

function commonStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

/** Returns the last line of {@link renderPlan}: the number of objects per action. */
export function planSummary({ objects, rollouts }: Pick<Plan, 'objects' | 'rollouts'>): string {
  const count = (...actions: readonly PlannedObject['action'][]): number =>
    objects.filter(({ action }) => actions.includes(action)).length;
  const parts = [
    `${count('create')} to create`,
    `${count('configure')} to configure`,
    `${count('recreate')} to recreate`,
    `${count('prune')} to prune`,
    `${count('unchanged')} unchanged`,
    `${rollouts.length} to roll out`,
  ];
  const troubled = count('violate', 'fail');
  return [...parts, ...(troubled > 0 ? [`${troubled} in trouble`] : [])].join(', ');
}
