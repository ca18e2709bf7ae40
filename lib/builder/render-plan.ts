import pc from 'picocolors';
import { describeObject } from '../object/describe-object.js';
import type { FieldChange } from '../object/diff-by-path.js';
import type { ObjectReference } from '../object/object-reference.js';
import { refId } from './dependencies.js';
import type { Plan, PlannedObject, PlannedRollout } from './plan-types.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link renderPlan}. */
export interface RenderPlanOptions {
  /** @defaultValue whether standard output takes colours (`NO_COLOR` is honoured) */
  readonly color?: boolean | undefined;
  /** List unchanged objects too. @defaultValue false */
  readonly unchanged?: boolean | undefined;
}

/**
 * A plan for people: an object a line, with `+` (created), `~` (changed), `-` (pruned), `±`
 * (recreated), `!` (refused or failing), `…` (waiting); below it each field with both values, and
 * what it means for pods. A Secret's values are not in a plan.
 */
export function renderPlan(plan: Plan, options: RenderPlanOptions = {}): string {
  const { color = pc.isColorSupported } = options;
  refuseUnknownOptions<RenderPlanOptions>('renderPlan', options, { color, unchanged: true });
  const title = pc.createColors(color).bold(`Plan for ${describeObject(plan.owner)}`);
  return [title, ...renderObjects(plan, options), planSummary(plan)].join('\n');
}

/** The lines of {@link renderPlan} that are about objects. */
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
  readonly paint: (text: string) => string;
  readonly word: string;
}

function lookOf(action: PlannedObject['action'], colors: Colors): Look {
  switch (action) {
    case 'create':
      return { sign: '+', paint: colors.green, word: 'create' };
    case 'configure':
      return { sign: '~', paint: colors.yellow, word: 'configure' };
    case 'recreate':
      return { sign: '±', paint: colors.magenta, word: 'recreate' };
    case 'prune':
      return { sign: '-', paint: colors.red, word: 'prune' };
    case 'violate':
      return { sign: '!', paint: colors.red, word: 'refused' };
    case 'fail':
      return { sign: '!', paint: colors.red, word: 'fails' };
    case 'wait':
      return { sign: '…', paint: colors.cyan, word: 'waits' };
    case 'unchanged':
      return { sign: ' ', paint: colors.dim, word: 'unchanged' };
  }
}

function objectLines(
  object: PlannedObject,
  rollout: PlannedRollout | undefined,
  colors: Colors,
): readonly string[] {
  const { sign, paint, word } = lookOf(object.action, colors);
  const notes = [
    ...(object.approximate ? ['approximate'] : []),
    ...(object.reason === undefined ? [] : [object.reason]),
  ];
  const note = notes.length === 0 ? '' : colors.dim(` (${notes.join('; ')})`);
  const head = `${paint(`${sign} ${describeObject(object.ref)}`)} ${word}${note}`;
  return [
    head,
    ...object.changes.map((change) => `    ${changeLine(change, object, colors)}`),
    ...(rollout === undefined ? [] : [`    ${colors.yellow(rolloutLine(rollout))}`]),
  ];
}

function changeLine(change: FieldChange, { action }: PlannedObject, colors: Colors): string {
  const { path, from, to, manager } = change;
  const by = manager === undefined ? '' : colors.dim(` (taken by ${manager})`);
  // The server said which field, not what is in it.
  if (from === undefined && to === undefined) return colors.red(`! ${path}`);
  if (action === 'create' || from === undefined) return colors.green(`+ ${path}: ${show(to)}`) + by;
  if (to === undefined) return colors.red(`- ${path}: ${show(from)}`) + by;
  return `~ ${path}: ${colors.red(show(from))} → ${colors.green(show(to))}${by}`;
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

const longestValue = 200;

function show(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`;
}

/** The last line of {@link renderPlan}: how much of what. */
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
