import { parseDuration } from '../../crd/cel/times.js';
import { dns1035LabelProblem } from '../../object/names.js';
import type { CompileContext } from '../spec-problem.js';
import { Members } from './members.js';
import { sourceTypes, targetTypes } from './operator-spec.js';
import type {
  ControllerSpec,
  OperatorSpec,
  ResourceSpec,
  SourceSpec,
  SourceType,
  TargetSpec,
} from './operator-spec.js';
import { readPredicate } from './read-predicate.js';
import { readSelector } from './read-selector.js';

/** API group of virtual sources, whose kind names the type. */
const virtualGroup = 'source.dcontroller.io';
/** API groups of virtual sources whose group names the type; their kind is free. */
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
    namespace: members.text('namespace'),
    labelSelector:
      selector === undefined ? undefined : readSelector(selector, context.at('labelSelector')),
    predicate:
      predicate === undefined ? undefined : readPredicate(predicate, context.at('predicate')),
    periodMs: type === 'Periodic' ? readPeriod(members) : 0,
  };
}

function readResource(members: Members): ResourceSpec {
  const kind = members.need('kind');
  return { apiGroup: members.text('apiGroup'), version: members.text('version'), kind };
}

/** Returns the type of a source. The group or the kind of a virtual source determines it. */
function readType(members: Members, { apiGroup, kind }: ResourceSpec): SourceType {
  const virtual = virtualGroups.get(apiGroup);
  if (virtual !== undefined) return virtual;
  if (apiGroup !== virtualGroup) return members.oneOf('type', sourceTypes);
  const type = sourceTypes.find((each) => each === kind);
  if (type !== undefined && type !== 'Watcher') return type;
  members.context.report(
    { message: `${kind} is no virtual source: want OneShot, Periodic` },
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
