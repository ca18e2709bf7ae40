import { apiVersionOf } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { seededRandom } from '../../system/random.js';
import type {
  CrashMode,
  CrashPoint,
  CrashPointResult,
  CrashPointsReport,
  CrashRequest,
} from './crash-point.js';
import { CrashPointsError } from './crash-points-error.js';
import type { CrashCluster, CrashScenario, DefaultCrashCluster } from './crash-scenario.js';
import { judgePlay } from './judge-play.js';
import { Play } from './play.js';
import type { Played } from './play.js';
import { resolveScenario } from './resolve-scenario.js';
import type { ResolvedScenario } from './resolve-scenario.js';

/** Options of {@link crashPoints}. */
export interface CrashPointsOptions {
  /** Only this point, or those that have what it says: how a failure is looked into. @defaultValue all */
  readonly only?: Partial<CrashPoint> | undefined;
  /** How the operator dies. @defaultValue all modes */
  readonly modes?: readonly CrashMode[] | undefined;
  /** Not every point, but `count` of them, chosen by `seed`. @defaultValue every one */
  readonly sample?: { readonly count: number; readonly seed: number } | undefined;
  /**
   * How many points are played at once, each on a cluster (or namespace) of its own; at least 1. Saves
   * time where runs mostly wait, as on a real cluster; the results are in order all the same.
   * @defaultValue 1
   */
  readonly concurrency?: number | undefined;
}

const allModes: readonly CrashMode[] = ['before', 'unanswered', 'answered'];

/**
 * Shows that an operator can be killed at any moment: plays `scenario` without a crash, to count the
 * operator's requests, and then once for each of them, each time on a fresh cluster: the operator
 * dies there, is started again, and has to come to the same end.
 *
 * ## What is checked
 * After the step of the crash, against the same moment of the uninterrupted run: the objects of every
 * kind that the operator writes are the same, field by field and manager by manager (so: no orphan,
 * nothing missing, no finalizer left); what lived through the step still has its UID; nothing was made
 * twice. And by itself: nothing is written for `steadyMs` once all is done, nothing by an operator that
 * is started once more, and the scenario's own `invariant` holds at the crash and after each step.
 *
 * ## Caveats
 * The run ends with the step of the crash. An operator is killed by its client, which sends no more:
 * what it does outside of the cluster goes on until its signal ends it.
 * @throws CrashPointsError where one of them failed; it names each, and has the report.
 * @throws OperatorError `InvalidOption`: no point is as `only` says, or the scenario is wrong,
 * or `concurrency` is no whole number from 1.
 */
export async function crashPoints<C extends CrashCluster = DefaultCrashCluster>(
  scenario: CrashScenario<C>,
  options: CrashPointsOptions = {},
): Promise<CrashPointsReport> {
  const { concurrency = 1 } = options;
  const { name } = scenario;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    const message = `${name}: concurrency: want a whole number from 1, got ${concurrency}`;
    throw new OperatorError('InvalidOption', message);
  }
  const { resolved, whole } = await uninterrupted(resolveScenario(scenario));
  const requests = whole.steps.flatMap((step) => step.requests);
  if (whole.problems.length > 0) {
    const report = { scenario: name, requests: whole.requests, results: [] };
    throw new CrashPointsError(report, whole.problems);
  }
  const points = pointsOf(resolved, whole, options);
  const results = await inOrder(points, concurrency, (point) => resultAt(point, resolved, whole));
  const report = { scenario: name, requests, results };
  if (results.some(({ problems }) => problems.length > 0)) throw new CrashPointsError(report);
  return report;
}

interface Uninterrupted<C extends CrashCluster> {
  /** Knows all kinds that the operator writes. */
  readonly resolved: ResolvedScenario<C>;
  readonly whole: Played;
}

async function uninterrupted<C extends CrashCluster>(
  asGiven: ResolvedScenario<C>,
): Promise<Uninterrupted<C>> {
  const first = await Play.run(asGiven);
  const { kinds } = asGiven;
  const unknown = first.writtenKinds.filter(
    ({ apiVersion, kind }) =>
      !kinds.some((given) => given.kind === kind && apiVersionOf(given) === apiVersion),
  );
  const resolved = { ...asGiven, kinds: [...kinds, ...unknown] };
  if (first.problems.length > 0 || unknown.length === 0) return { resolved, whole: first };
  // Now that the kinds are known, their objects are looked at from the start.
  return { resolved, whole: await Play.run(resolved) };
}

/** Calls `each` for all items, `atOnce` of them at a time. */
async function inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  each: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let left = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, item] = next;
      try {
        results[at] = await each(item);
      } catch (error) {
        left = [];
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return results;
}

async function resultAt<C extends CrashCluster>(
  point: CrashPoint,
  scenario: ResolvedScenario<C>,
  whole: Played,
): Promise<CrashPointResult> {
  const played = await Play.run(scenario, point);
  return { point, request: played.crashedAt, problems: judgePlay(played, whole) };
}

function pointsOf<C extends CrashCluster>(
  { name }: ResolvedScenario<C>,
  { steps }: Played,
  { only = {}, modes = allModes, sample }: CrashPointsOptions,
): readonly CrashPoint[] {
  const all = steps.flatMap(({ requests }) => requests.flatMap((each) => pointsAt(each, modes)));
  const wanted = Object.entries(only) as [keyof CrashPoint, unknown][];
  const found = all.filter((point) => wanted.every(([key, value]) => point[key] === value));
  if (found.length === 0 && wanted.length > 0) {
    const message = `${name}: no crash point is ${JSON.stringify(only)}`;
    throw new OperatorError('InvalidOption', message);
  }
  return sample === undefined ? found : sampleOf(found, sample);
}

/** Those that differ, see {@link CrashMode}. */
function pointsAt(
  { step, request, write }: CrashRequest,
  modes: readonly CrashMode[],
): CrashPoint[] {
  const differs = { before: request === 1, unanswered: write, answered: true };
  return modes.filter((mode) => differs[mode]).map((mode) => ({ step, request, mode }));
}

function sampleOf(
  points: readonly CrashPoint[],
  { count, seed }: NonNullable<CrashPointsOptions['sample']>,
): readonly CrashPoint[] {
  const random = seededRandom(seed);
  const drawn = points.map((point) => ({ point, rank: random.next() }));
  const chosen = new Set(drawn.toSorted((one, other) => one.rank - other.rank).slice(0, count));
  return drawn.filter((each) => chosen.has(each)).map(({ point }) => point);
}
